/**
 * The provider throttles of this process, one for each model of a provider key. When a model is throttled, all worker
 * processes learn it: first by a bus message, then by the row in PostgreSQL, which every heartbeat reads. Model calls
 * wait for neither: a call starts or is delayed by what this process knows. A throttle has an end time, so a process
 * that dies leaves nothing blocked.
 */
import type { Logger } from 'pino';
import type { TenantId } from '../../core/ids.ts';
import {
  beforeStart,
  type Model,
  type ModelFailure,
  type ModelName,
  type ProviderName,
} from '../../core/model/model.ts';
import { isThrottleReason, type Access, type ThrottleNews } from '../../core/run/throttle.ts';
import { throttleNews, type Bus } from '../../bus/bus.ts';
import type { Database } from '../../db/connection/client.ts';
import { setThrottle } from '../../db/processes/throttles.ts';
import { throttleId } from '../../llm/key-id.ts';
import { ModelThrottle, type Closing, type Pass } from '../../llm/model-throttle.ts';
import type { DatabaseClock } from './clock.ts';
import type { WorkerMetrics } from './metrics/metrics.ts';

type ThrottlePorts = {
  database: Database;
  bus: Bus;
  log: Logger;
  random(): number;
  abilities: { model(provider: ProviderName): Model | null; keyId(provider: ProviderName): string };
};

/** Calls of one tenant to one model. */
type Line = { name: ModelName; tenantId: TenantId };

/** `unwritten`: what the row does not say yet. */
type Known = { throttle: ModelThrottle; unwritten: Closing | null; writing: boolean };

export class Throttles {
  readonly #ports: ThrottlePorts;
  readonly #clock: DatabaseClock;
  readonly #metrics: WorkerMetrics;
  /** By the id of the throttle; only of models that are throttled, and for a while after. */
  readonly #known = new Map<string, Known>();
  #unsubscribe: () => void = () => undefined;

  constructor(ports: ThrottlePorts, clock: DatabaseClock, metrics: WorkerMetrics) {
    this.#ports = ports;
    this.#clock = clock;
    this.#metrics = metrics;
  }

  async start(): Promise<void> {
    this.#unsubscribe = await this.#ports.bus.subscribe(throttleNews(), (news) => this.receive(news));
  }

  stop(): void {
    this.#unsubscribe();
  }

  /** Takes throttles that other processes have set, and those that the operator has lifted. */
  receive({ active, lifted }: ThrottleNews): void {
    for (const { id, at } of lifted) this.#known.get(id)?.throttle.lift(at);
    for (const { id, ...closing } of active) this.#knownOf(id).throttle.receive(closing);
    for (const [id, { throttle, unwritten, writing }] of this.#known)
      if (throttle.isIdle && unwritten === null && !writing) this.#known.delete(id);
  }

  /**
   * The model for one call of this tenant that starts now, or the throttle that delays it. Null: this process has no
   * key for the provider.
   */
  ask(name: ModelName, tenantId: TenantId): Access | null {
    const model = this.#ports.abilities.model(name.provider);
    if (model === null) return null;
    const line: Line = { name, tenantId };
    const throttle = this.#throttleOf(line);
    const closing = throttle?.holding(tenantId) ?? null;
    if (throttle === null || closing === null) return { kind: 'open', model: this.#guarded(line, model) };
    return {
      kind: 'throttled',
      throttle: { ...name, ...closing },
      comeAgainAt: () => {
        this.#metrics.throttled(name.provider);
        return throttle.comeAgainAt(tenantId);
      },
      turn: (until, signal) => throttle.turn(tenantId, until, signal),
    };
  }

  #guarded(line: Line, model: Model): Model {
    const { tenantId } = line;
    return {
      isLoaded: () => model.isLoaded(),
      call: async (request, listener, signal) => {
        const throttle = this.#throttleOf(line);
        const pass: Pass = throttle?.enter(tenantId) ?? { tenantId, period: null, takes: null };
        // The first token shows that the provider accepts calls again.
        const recovering =
          throttle === null || pass.takes === null ? listener : beforeStart(listener, () => throttle.answered(pass));
        try {
          const outcome = await model.call(request, recovering, signal);
          if (outcome.kind === 'done') throttle?.answered(pass);
          if (outcome.kind === 'failed') this.#failed(line, pass, outcome.failure);
          return outcome;
        } finally {
          throttle?.left(pass);
        }
      },
    };
  }

  #failed(line: Line, pass: Pass, failure: ModelFailure): void {
    if (!isThrottleReason(failure.class)) return;
    const id = this.#idOf(line);
    const known = this.#knownOf(id);
    const closing = known.throttle.refused(pass, failure);
    if (closing !== null) this.#refuse(id, line, known, closing);
  }

  /** Null: the calls are not throttled. */
  #throttleOf(line: Line): ModelThrottle | null {
    // Most of the time nothing is throttled, and no id is needed.
    return this.#known.size === 0 ? null : (this.#known.get(this.#idOf(line))?.throttle ?? null);
  }

  #idOf({ name, tenantId }: Line): string {
    return throttleId(this.#ports.abilities.keyId(name.provider), name, tenantId);
  }

  #knownOf(id: string): Known {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const made: Known = {
      throttle: new ModelThrottle(this.#clock, () => this.#ports.random()),
      unwritten: null,
      writing: false,
    };
    this.#known.set(id, made);
    return made;
  }

  #refuse(id: string, line: Line, known: Known, closing: Closing): void {
    const { bus, log } = this.#ports;
    const { provider, model } = line.name;
    if (known.unwritten === null && !known.writing) {
      const until = new Date(closing.until).toISOString();
      log.warn({ provider, model, reason: closing.reason, until }, 'a provider throttled a model');
    }
    this.#metrics.throttleSet(provider, closing.reason);
    bus.publish(throttleNews(), { active: [{ ...closing, id }], lifted: [] });
    known.unwritten = together(known.unwritten, closing);
    if (!known.writing) void this.#write(id, line, known);
  }

  /** One write at a time, for all calls that were refused meanwhile. */
  async #write(id: string, { name }: Line, known: Known): Promise<void> {
    const { database, log, abilities } = this.#ports;
    const keyId = abilities.keyId(name.provider);
    known.writing = true;
    try {
      for (let closing = known.unwritten; closing !== null; closing = known.unwritten) {
        known.unwritten = null;
        await setThrottle(database.db, { ...name, keyId }, { ...closing, id });
      }
    } catch (error) {
      log.warn({ err: error, ...name }, 'could not write a provider throttle');
    } finally {
      known.writing = false;
    }
  }
}

/** One throttle for two refusals. */
function together(before: Closing | null, closing: Closing): Closing {
  if (before === null) return closing;
  const tenantIds = [...new Set([...before.tenantIds, ...closing.tenantIds])];
  return { ...(before.until > closing.until ? before : closing), since: before.since, tenantIds };
}
