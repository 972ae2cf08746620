/**
 * The registration of a worker process in the database: a row, a session lock, and one heartbeat for all its contexts
 * on a dedicated connection. A process without a successful heartbeat for two thirds of the lease ends all its runs,
 * before other processes may claim their contexts. A process that was declared dead registers again under a new id,
 * once its old runs have ended.
 */
import { randomInt } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import pTimeout from 'p-timeout';
import type { ProcessId } from '../../../core/ids.ts';
import { leaveFigures } from '../../../db/processes/figures.ts';
import { heartbeat, takeLock, register, requestedOf, unregister } from '../../../db/processes/processes.ts';
import { storeUse } from '../../../db/calls/tool-use.ts';
import type { Database } from '../../../db/connection/client.ts';
import { interestTo, controlSignalsTo } from '../../../bus/bus.ts';
import type { ProcessControl } from './control.ts';
import type { WorkerPorts, WorkerState } from '../ports.ts';
import { VERSION } from '../../../package-files.ts';

/** One registration of the process: its row and its session lock. */
type Incarnation = { id: ProcessId; lockKey: number; backend: number | null; unsubscribe: () => void };

/** How often the process writes its metrics to its row, in milliseconds. */
const FIGURES_MS = 5_000;
/** How often it stores with them what tenants use of each tool, in milliseconds. */
const USE_MS = 60_000;

type HeartbeatPorts = WorkerPorts &
  Pick<WorkerState, 'registry' | 'subscribers' | 'clock' | 'throttles' | 'tenants' | 'metrics'> & {
    control: ProcessControl;
  };

export class Heartbeat {
  readonly #ports: HeartbeatPorts;
  #connection: Database;
  #incarnation: Incarnation | null = null;
  /** The registration that was declared dead, until there is a new one. */
  #deadId: ProcessId | null = null;
  /** When the last successful heartbeat was sent, on the monotonic clock. */
  #lastHeartbeat = 0;
  #lastFigures = 0;
  #lastUse = performance.now();
  readonly #stopping = new AbortController();
  #beating: Promise<void> = Promise.resolve();

  constructor(ports: HeartbeatPorts) {
    this.#ports = ports;
    this.#connection = ports.openHeartbeatConnection();
  }

  /**
   * The id of the current registration. Null between registrations and while the lease may have expired: the process
   * claims nothing then.
   */
  identity(): ProcessId | null {
    return this.#isFresh() ? (this.#incarnation?.id ?? null) : null;
  }

  /**
   * Resolves once the process may claim contexts. Retries until the database is available, or until the signal: then it
   * rejects with its reason. Call `stop` in both cases.
   */
  async start(signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted();
      try {
        await this.#incarnate();
        break;
      } catch (error) {
        this.#ports.log.warn({ err: error }, 'waiting for the database');
        await setTimeout(this.#ports.times.heartbeatIntervalMs, undefined, { signal }).catch(() => undefined);
        signal.throwIfAborted();
        await this.#reconnect();
      }
    }
    this.#beating = this.#heartbeatOn();
  }

  /** Ends the registration: other processes may claim its remaining contexts at once. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await pTimeout(this.#beating, { milliseconds: 2_000 }).catch(() => undefined);
    const incarnation = this.#incarnation;
    this.#incarnation = null;
    if (incarnation !== null) {
      incarnation.unsubscribe();
      const { db } = this.#connection;
      await pTimeout(storeUse(db, this.#ports.metrics.use.take()), { milliseconds: 2_000 }).catch(() => undefined);
      await pTimeout(unregister(this.#connection.db, incarnation.id), { milliseconds: 2_000 }).catch(() => undefined);
    }
    await this.#connection.close(1).catch(() => undefined);
  }

  async #heartbeatOn(): Promise<void> {
    const { signal } = this.#stopping;
    for (;;) {
      await setTimeout(this.#ports.times.heartbeatIntervalMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      await this.#heartbeatOnce().catch(async (error: unknown) => this.#missed(error));
    }
  }

  async #heartbeatOnce(): Promise<void> {
    const incarnation = this.#incarnation;
    if (incarnation === null) return this.#incarnate();
    const sent = performance.now();
    const { control, times } = this.#ports;
    const own = { id: incarnation.id, status: control.status };
    const reply = await this.#inTime(heartbeat(this.#connection.db, own, times));
    if (reply.kind === 'dead') return this.#startOver(incarnation);
    this.#lastHeartbeat = sent;
    this.#ports.clock.set(reply.now, sent);
    control.receive(reply.requested);
    this.#ports.throttles.receive(reply.throttles);
    this.#ports.tenants.receive(reply.tenants);
    for (const { contextId, controlSeq } of reply.signals) this.#ports.registry.notify(contextId, controlSeq);
    if (incarnation.backend !== reply.backendPid) {
      incarnation.backend = await this.#inTime(takeLock(this.#connection.db, incarnation.lockKey));
    }
    if (sent - this.#lastFigures >= FIGURES_MS) await this.#leaveFigures(incarnation.id, sent);
  }

  /** API processes serve these metrics to Prometheus. */
  async #leaveFigures(id: ProcessId, now: number): Promise<void> {
    this.#lastFigures = now;
    try {
      const { metrics } = this.#ports;
      const figures = await metrics.read();
      const isDue = now - this.#lastUse >= USE_MS;
      if (isDue) this.#lastUse = now;
      await this.#inTime(leaveFigures(this.#connection.db, id, figures, isDue ? metrics.use.take() : []));
    } catch (error) {
      this.#ports.log.warn({ err: error }, 'could not write the metrics to the process row');
    }
  }

  async #missed(error: unknown): Promise<void> {
    this.#ports.log.warn({ err: error }, 'a heartbeat was missed');
    this.#ports.metrics.heartbeatMissed();
    if (!this.#isFresh() && this.#ports.registry.running > 0) {
      this.#ports.log.error(
        { runs: this.#ports.registry.running },
        'no heartbeat for two thirds of the lease: ending all runs',
      );
      this.#ports.registry.loseAll();
    }
    await this.#reconnect();
  }

  /** After a failed heartbeat the process opens a new connection. */
  async #reconnect(): Promise<void> {
    void this.#connection.close(0).catch(() => undefined);
    this.#connection = this.#ports.openHeartbeatConnection();
    if (this.#incarnation !== null) this.#incarnation.backend = null;
  }

  async #startOver(dead: Incarnation): Promise<void> {
    this.#ports.log.error({ process_id: dead.id }, 'this process was declared dead: it registers again under a new id');
    this.#incarnation = null;
    this.#deadId = dead.id;
    dead.unsubscribe();
    this.#ports.registry.loseAll();
    await this.#ports.registry.emptied();
    await this.#incarnate();
  }

  async #incarnate(): Promise<void> {
    const { abilities, bus, control, ids, log, sessionName } = this.#ports;
    const id = ids.next<ProcessId>();
    const lockKey = randomInt(1, 2 ** 48 - 1);
    const sent = performance.now();
    const backend = await this.#inTime(takeLock(this.#connection.db, lockKey));
    if (backend === null)
      throw new Error(`Another session holds the advisory lock ${lockKey}. The process retries with another lock.`);
    // It may have been asked while it could not read it.
    const asked = this.#deadId === null ? null : await this.#inTime(requestedOf(this.#connection.db, this.#deadId));
    if (asked !== null) control.receive(asked);
    const named = sessionName === undefined ? {} : { sessionName };
    const where = { host: hostname(), pid: process.pid, ...named };
    const { canDrain, requested: requestedStatus, status } = control;
    const own = { canDrain, requestedStatus, status };
    const row = { id, lockKey, ...where, version: VERSION, ...abilities.published, ...own };
    await this.#inTime(register(this.#connection.db, row));
    const subscriptions = await Promise.all([
      bus.subscribe(controlSignalsTo(id), ({ contextId, controlSeq }) =>
        this.#ports.registry.notify(contextId, controlSeq),
      ),
      bus.subscribe(interestTo(id), (interest) => this.#ports.subscribers.receive(interest)),
    ]);
    const unsubscribe = (): void => subscriptions.forEach((end) => end());
    this.#lastHeartbeat = sent;
    this.#incarnation = { id, lockKey, backend, unsubscribe };
    this.#deadId = null;
    log.info({ process_id: id }, 'worker process is up');
  }

  #isFresh(): boolean {
    return performance.now() - this.#lastHeartbeat < (this.#ports.times.leaseMs * 2) / 3;
  }

  #inTime<T>(work: Promise<T>): Promise<T> {
    return pTimeout(work, { milliseconds: Math.max(1_000, this.#ports.times.leaseMs / 6) });
  }
}
