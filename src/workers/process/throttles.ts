/**
 * The provider throttles of this process: one for each tenant whose calls to a model were refused. When calls are
 * refused, all worker processes learn it: first by a bus message, then by the row in PostgreSQL, which every heartbeat
 * reads. Model calls wait for neither: a call starts or is delayed by what this process knows. A throttle has an end
 * time, so a process that dies leaves nothing blocked.
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
import { FREE_PASS, KeyThrottle, WaitLimit, type Closing, type Pass } from '../../llm/key-throttle.ts';
import type { DatabaseClock } from './clock.ts';
import type { WorkerMetrics } from './metrics/metrics.ts';

type ThrottlePorts = {
  database: Database;
  bus: Bus;
  log: Logger;
  random(): number;
  abilities: { model(provider: ProviderName): Model | null; keyId(provider: ProviderName): string };
};

/** Maximum callers that wait in place, because waiting callers keep their slots. */
const MOST_WAITING = 32;

/** Calls of one tenant to one model. */
type Calls = { name: ModelName; tenantId: TenantId };

/** `unwritten`: what the row does not say yet. */
type Known = { throttle: KeyThrottle; unwritten: Closing | null; writing: boolean };

/** The throttles of one model. */
type OfModel = Map<TenantId, Known>;

export class Throttles {
  readonly #ports: ThrottlePorts;
  readonly #clock: DatabaseClock;
  readonly #metrics: WorkerMetrics;
  readonly #limit = new WaitLimit(MOST_WAITING);
  /** By the id of a model; only while calls are throttled, and for a while after. */
  readonly #known = new Map<string, OfModel>();
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
    for (const { id, tenantId, ...closing } of active) this.#knownOf(id, tenantId).throttle.receive(closing);
    for (const { id, at } of lifted) for (const { throttle } of this.#known.get(id)?.values() ?? []) throttle.lift(at);
    this.#forget();
  }

  /**
   * The model for one call of this tenant that starts now, or the throttle that delays it. Null: this process has no
   * key for the provider.
   */
  ask(name: ModelName, tenantId: TenantId): Access | null {
    const model = this.#ports.abilities.model(name.provider);
    if (model === null) return null;
    const calls = { name, tenantId };
    const throttle = this.#throttleOf(calls);
    const closing = throttle?.holding() ?? null;
    if (throttle === null || closing === null) return { kind: 'open', model: this.#guarded(calls, throttle, model) };
    const { reason, until } = closing;
    return {
      kind: 'throttled',
      throttle: { id: this.#idOf(calls), ...name, reason, until },
      comeAgainAt: () => {
        this.#metrics.throttled(name.provider);
        return throttle.comeAgainAt();
      },
      turn: (until, signal) => throttle.turn(until, signal),
    };
  }

  #guarded(calls: Calls, throttle: KeyThrottle | null, model: Model): Model {
    return {
      isLoaded: () => model.isLoaded(),
      call: async (request, listener, signal) => {
        const pass = throttle?.enter() ?? FREE_PASS;
        // The first token shows that the provider accepts the calls again.
        const recovering =
          throttle !== null && pass.counts ? beforeStart(listener, () => throttle.answered(pass)) : listener;
        try {
          const outcome = await model.call(request, recovering, signal);
          if (outcome.kind === 'done') throttle?.answered(pass);
          if (outcome.kind === 'failed') this.#failed(calls, pass, outcome.failure);
          return outcome;
        } finally {
          throttle?.left(pass);
        }
      },
    };
  }

  #failed(calls: Calls, pass: Pass, failure: ModelFailure): void {
    if (!isThrottleReason(failure.class)) return;
    const id = this.#idOf(calls);
    const known = this.#knownOf(id, calls.tenantId);
    const closing = known.throttle.refused(pass, failure);
    if (closing !== null) this.#refuse(id, calls, known, closing);
  }

  /** Null: nothing is known of this model. While calls of other tenants are refused, this one's begin gradually. */
  #throttleOf(calls: Calls): KeyThrottle | null {
    // Most of the time nothing is throttled, and no id is needed.
    if (this.#known.size === 0) return null;
    const id = this.#idOf(calls);
    const ofModel = this.#known.get(id);
    if (ofModel === undefined) return null;
    const { throttle } = this.#knownOf(id, calls.tenantId);
    for (const [tenantId, other] of ofModel) {
      const refusal = tenantId === calls.tenantId ? null : other.throttle.refusal;
      if (refusal !== null) throttle.startSlowly(refusal);
    }
    return throttle;
  }

  #idOf({ name, tenantId }: Calls): string {
    return throttleId(this.#ports.abilities.keyId(name.provider), name, tenantId);
  }

  #knownOf(id: string, tenantId: TenantId): Known {
    const ofModel: OfModel = this.#known.get(id) ?? new Map();
    this.#known.set(id, ofModel);
    const known = ofModel.get(tenantId) ?? {
      throttle: new KeyThrottle(this.#clock, () => this.#ports.random(), this.#limit),
      unwritten: null,
      writing: false,
    };
    ofModel.set(tenantId, known);
    return known;
  }

  /** Models of which no calls are refused any more. */
  #forget(): void {
    for (const [id, ofModel] of this.#known) {
      const inUse = [...ofModel.values()].some(({ throttle, writing }) => !throttle.isIdle || writing);
      if (!inUse) this.#known.delete(id);
    }
  }

  #refuse(id: string, calls: Calls, known: Known, closing: Closing): void {
    const { bus, log } = this.#ports;
    const { provider, model } = calls.name;
    if (known.unwritten === null && !known.writing) {
      const until = new Date(closing.until).toISOString();
      log.warn({ provider, model, reason: closing.reason, until }, 'a provider throttled a model');
    }
    this.#metrics.throttleSet(provider, closing.reason);
    bus.publish(throttleNews(), { active: [{ ...closing, id, tenantId: calls.tenantId }], lifted: [] });
    known.unwritten = closing;
    if (!known.writing) void this.#write(id, calls, known);
  }

  /** One write at a time: if many calls are refused together, only the last throttle is written. */
  async #write(id: string, { name, tenantId }: Calls, known: Known): Promise<void> {
    const { database, log, abilities } = this.#ports;
    const keyId = abilities.keyId(name.provider);
    known.writing = true;
    try {
      for (let closing = known.unwritten; closing !== null; closing = known.unwritten) {
        known.unwritten = null;
        await setThrottle(database.db, { ...name, keyId }, { ...closing, id, tenantId });
      }
    } catch (error) {
      log.warn({ err: error, ...name }, 'could not write a provider throttle');
    }
    known.writing = false;
    // What came during a write that failed.
    if (known.unwritten !== null) await this.#write(id, { name, tenantId }, known);
  }
}
