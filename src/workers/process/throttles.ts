/**
 * The provider throttles of this process, one for each provider key. When a key is throttled, all worker processes
 * learn it: first by a bus message, then by the row in PostgreSQL, which every heartbeat reads. Model calls wait for
 * neither: a call starts or is delayed by what this process knows. A throttle has an end time, so a process that dies
 * leaves no key blocked.
 */
import type { Logger } from 'pino';
import { PROVIDERS, beforeStart, type Model, type ModelOutcome, type ProviderName } from '../../core/model/model.ts';
import type { Access } from '../../core/run/throttle.ts';
import { throttlesSet, type Bus } from '../../bus/bus.ts';
import type { Database } from '../../db/connection/client.ts';
import { setThrottle, type ActiveThrottle } from '../../db/processes/throttles.ts';
import { KeyThrottle, type Closing, type Pass } from '../../llm/key-throttle.ts';
import type { DatabaseClock } from './clock.ts';
import type { WorkerMetrics } from './metrics/metrics.ts';

type ThrottlePorts = {
  database: Database;
  bus: Bus;
  log: Logger;
  random(): number;
  abilities: { model(provider: ProviderName): Model | null; keyId(provider: ProviderName): string };
};

type Key = {
  id: string;
  provider: ProviderName;
  throttle: KeyThrottle;
  unwritten: Closing | null;
  writing: boolean;
};

export class Throttles {
  readonly #ports: ThrottlePorts;
  readonly #metrics: WorkerMetrics;
  readonly #keys: Record<ProviderName, Key>;
  #unsubscribe: () => void = () => undefined;

  constructor(ports: ThrottlePorts, clock: DatabaseClock, metrics: WorkerMetrics) {
    const key = (provider: ProviderName): Key => ({
      id: ports.abilities.keyId(provider),
      provider,
      throttle: new KeyThrottle(clock, () => ports.random()),
      unwritten: null,
      writing: false,
    });
    this.#ports = ports;
    this.#metrics = metrics;
    this.#keys = {
      anthropic: key('anthropic'),
      openai: key('openai'),
      'openai-chat': key('openai-chat'),
      simulated: key('simulated'),
    };
  }

  async start(): Promise<void> {
    this.#unsubscribe = await this.#ports.bus.subscribe(throttlesSet(), (closed) => this.receive([closed]));
  }

  stop(): void {
    this.#unsubscribe();
  }

  /** Takes throttles that other processes have set. */
  receive(closed: readonly ActiveThrottle[]): void {
    for (const { id, reason, until } of closed) {
      for (const provider of PROVIDERS) {
        const { id: own, throttle } = this.#keys[provider];
        if (own === id) throttle.receive({ until, reason });
      }
    }
  }

  /**
   * The model for one call that starts now, or the throttle that delays it. Null: this process has no key for the
   * provider.
   */
  ask(provider: ProviderName): Access | null {
    const model = this.#ports.abilities.model(provider);
    if (model === null) return null;
    const key = this.#keys[provider];
    const { throttle } = key;
    const closing = throttle.holding();
    if (closing === null) return { kind: 'open', model: this.#guarded(key, model) };
    return {
      kind: 'throttled',
      throttle: { provider, reason: closing.reason, until: closing.until },
      comeAgainAt: () => {
        this.#metrics.throttled(provider);
        return throttle.comeAgainAt();
      },
      turn: (until, signal) => throttle.turn(until, signal),
    };
  }

  #guarded(key: Key, model: Model): Model {
    return {
      isLoaded: () => model.isLoaded(),
      call: async (request, listener, signal) => {
        const pass = key.throttle.enter();
        // The first token shows that the provider accepts the key again.
        const recovering = pass.counts ? beforeStart(listener, () => key.throttle.answered(pass)) : listener;
        try {
          const outcome = await model.call(request, recovering, signal);
          this.#learn(key, pass, outcome);
          return outcome;
        } finally {
          key.throttle.left(pass);
        }
      },
    };
  }

  #learn(key: Key, pass: Pass, outcome: ModelOutcome): void {
    switch (outcome.kind) {
      case 'done':
        return key.throttle.answered(pass);
      case 'failed': {
        const closing = key.throttle.refused(pass, outcome.failure);
        if (closing !== null) this.#refuse(key, closing);
        return;
      }
      case 'aborted':
    }
  }

  #refuse(key: Key, closing: Closing): void {
    const { bus, log } = this.#ports;
    if (key.unwritten === null && !key.writing) {
      const until = new Date(closing.until).toISOString();
      log.warn({ provider: key.provider, reason: closing.reason, until }, 'a provider key is throttled');
    }
    this.#metrics.throttleSet(key.provider, closing.reason);
    bus.publish(throttlesSet(), { id: key.id, reason: closing.reason, until: closing.until });
    key.unwritten = closing;
    if (!key.writing) void this.#write(key);
  }

  /** One write at a time: if many calls are refused together, only the last throttle is written. */
  async #write(key: Key): Promise<void> {
    key.writing = true;
    try {
      for (let closing = key.unwritten; closing !== null; closing = key.unwritten) {
        key.unwritten = null;
        await setThrottle(this.#ports.database.db, key.provider, { id: key.id, ...closing });
      }
    } catch (error) {
      this.#ports.log.warn({ err: error, provider: key.provider }, 'could not write a provider throttle');
    } finally {
      key.writing = false;
    }
  }
}
