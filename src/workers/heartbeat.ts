/**
 * The life of a worker process in the database: a row, a session lock, and a beat for all its contexts on a connection of
 * its own. A process that could not beat for two thirds of the lease lets all its runs go, before anybody else may take
 * them; one that was declared dead starts over under a new id, once its old runs have ended.
 */
import { randomInt } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import pTimeout from 'p-timeout';
import type { ProcessId } from '../core/ids.ts';
import { heartbeat, takeLock, leaveFigures, register, unregister } from '../db/processes.ts';
import type { Database } from '../db/client.ts';
import { interestTo, controlSignalsTo } from '../bus/bus.ts';
import type { SubscriberRegistry } from './subscriber-registry.ts';
import type { DatabaseClock } from './clock.ts';
import type { Throttles } from './throttles.ts';
import type { WorkerMetrics } from './metrics.ts';
import type { WorkerPorts } from './ports.ts';
import type { Registry } from './registry.ts';
import { VERSION } from '../package-files.ts';

/** One incarnation: a row, and the lock under which it stands. */
type Incarnation = { id: ProcessId; lockKey: number; backend: number | null; unsubscribe: () => void };

/** How often figures are left in the process's row, in milliseconds. */
const FIGURES_MS = 5_000;

export class Heartbeat {
  readonly #ports: WorkerPorts;
  readonly #registry: Registry;
  readonly #subscribers: SubscriberRegistry;
  readonly #clock: DatabaseClock;
  readonly #throttles: Throttles;
  readonly #metrics: WorkerMetrics;
  #connection: Database;
  #incarnation: Incarnation | null = null;
  /** Of the monotonic clock: when the last beat that succeeded was sent. */
  #lastHeartbeat = 0;
  #lastFigures = 0;
  #stopped = false;
  #beating: Promise<void> = Promise.resolve();

  constructor(
    ports: WorkerPorts,
    registry: Registry,
    subscribers: SubscriberRegistry,
    clock: DatabaseClock,
    throttles: Throttles,
    metrics: WorkerMetrics,
  ) {
    this.#ports = ports;
    this.#registry = registry;
    this.#subscribers = subscribers;
    this.#clock = clock;
    this.#throttles = throttles;
    this.#metrics = metrics;
    this.#connection = ports.openHeartbeatConnection();
  }

  /** Null between incarnations, and while the lease may have run out: nothing is claimed then. */
  identity(): ProcessId | null {
    return this.#isFresh() ? (this.#incarnation?.id ?? null) : null;
  }

  /** Resolves once the process may claim. Waits for a database that is away. */
  async start(): Promise<void> {
    while (!this.#stopped) {
      try {
        await this.#incarnate();
        break;
      } catch (error) {
        this.#ports.log.warn({ err: error }, 'waiting for the database');
        await setTimeout(this.#ports.times.heartbeatIntervalMs);
        await this.#reconnect();
      }
    }
    this.#beating = this.#heartbeatOn();
  }

  /** The last beat: whatever is still owned is for others from now on. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await pTimeout(this.#beating, { milliseconds: 2_000 }).catch(() => undefined);
    const incarnation = this.#incarnation;
    this.#incarnation = null;
    if (incarnation !== null) {
      incarnation.unsubscribe();
      await pTimeout(unregister(this.#connection.db, incarnation.id), { milliseconds: 2_000 }).catch(
        () => undefined,
      );
    }
    await this.#connection.close(1).catch(() => undefined);
  }

  async #heartbeatOn(): Promise<void> {
    while (!this.#stopped) {
      await setTimeout(this.#ports.times.heartbeatIntervalMs);
      if (this.#stopped) return;
      await this.#heartbeatOnce().catch(async (error: unknown) => this.#missed(error));
    }
  }

  async #heartbeatOnce(): Promise<void> {
    const incarnation = this.#incarnation;
    if (incarnation === null) return this.#incarnate();
    const sent = performance.now();
    const beat = await pTimeout(heartbeat(this.#connection.db, incarnation.id, this.#ports.times), {
      milliseconds: this.#timeoutMs(),
    });
    if (beat.kind === 'dead') return this.#startOver(incarnation);
    this.#lastHeartbeat = sent;
    this.#clock.set(beat.now);
    this.#throttles.receive(beat.throttles);
    for (const { contextId, controlSeq } of beat.signals) this.#registry.lookUp(contextId, controlSeq);
    if (incarnation.backend !== beat.backendPid) {
      incarnation.backend = await pTimeout(takeLock(this.#connection.db, incarnation.lockKey), {
        milliseconds: this.#timeoutMs(),
      });
    }
    if (sent - this.#lastFigures >= FIGURES_MS) await this.#leaveFigures(incarnation.id, sent);
  }

  /** For whoever scrapes an API process. */
  async #leaveFigures(id: ProcessId, now: number): Promise<void> {
    this.#lastFigures = now;
    try {
      const figures = await this.#metrics.read();
      await pTimeout(leaveFigures(this.#connection.db, id, figures), { milliseconds: this.#timeoutMs() });
    } catch (error) {
      this.#ports.log.warn({ err: error }, 'figures were not left');
    }
  }

  async #missed(error: unknown): Promise<void> {
    this.#ports.log.warn({ err: error }, 'a beat was missed');
    this.#metrics.heartbeatMissed();
    if (!this.#isFresh() && this.#registry.running > 0) {
      this.#ports.log.error(
        { runs: this.#registry.running },
        'no beat for most of the lease: letting all runs go',
      );
      this.#registry.loseAll();
    }
    await this.#reconnect();
  }

  /** A connection that failed once is not trusted again. */
  async #reconnect(): Promise<void> {
    void this.#connection.close(0).catch(() => undefined);
    this.#connection = this.#ports.openHeartbeatConnection();
    if (this.#incarnation !== null) this.#incarnation.backend = null;
  }

  async #startOver(dead: Incarnation): Promise<void> {
    this.#ports.log.error({ process_id: dead.id }, 'declared dead: starting over under a new id');
    this.#incarnation = null;
    dead.unsubscribe();
    this.#registry.loseAll();
    await this.#registry.emptied();
    await this.#incarnate();
  }

  async #incarnate(): Promise<void> {
    const { abilities, bus, ids, log, sessionName } = this.#ports;
    const id = ids.next<ProcessId>();
    const lockKey = randomInt(1, 2 ** 48 - 1);
    const sent = performance.now();
    const backend = await pTimeout(takeLock(this.#connection.db, lockKey), {
      milliseconds: this.#timeoutMs(),
    });
    if (backend === null) throw new Error('The lock of this process is taken.');
    const named = sessionName === undefined ? {} : { sessionName };
    const where = { host: hostname(), pid: process.pid, ...named };
    const row = { id, lockKey, ...where, version: VERSION, ...abilities.published };
    await pTimeout(register(this.#connection.db, row), { milliseconds: this.#timeoutMs() });
    const hearing = await Promise.all([
      bus.subscribe(controlSignalsTo(id), ({ contextId, controlSeq }) =>
        this.#registry.lookUp(contextId, controlSeq),
      ),
      bus.subscribe(interestTo(id), (interest) => this.#subscribers.receive(interest)),
    ]);
    const unsubscribe = (): void => hearing.forEach((end) => end());
    this.#lastHeartbeat = sent;
    this.#incarnation = { id, lockKey, backend, unsubscribe };
    log.info({ process_id: id }, 'worker process is up');
  }

  #isFresh(): boolean {
    return performance.now() - this.#lastHeartbeat < (this.#ports.times.leaseMs * 2) / 3;
  }

  #timeoutMs(): number {
    return Math.max(1_000, this.#ports.times.leaseMs / 6);
  }
}
