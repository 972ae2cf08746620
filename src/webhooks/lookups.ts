/**
 * Limits DNS lookups. Each occupies a thread of the few that a process has for files and names, for as long as the name
 * server takes, and cannot be aborted.
 */
import type { TenantId } from '../core/ids.ts';

/** Lookups at a time. */
const MOST = 2;

type Waiting = { tenantId: TenantId; begin: () => void };

export class Lookups {
  readonly #running: TenantId[] = [];
  #waiting: Waiting[] = [];

  /** Runs `lookup` when it is its turn: one of a tenant at a time. Rejects without it if `signal` aborts before. */
  async run<T>(tenantId: TenantId, signal: AbortSignal, lookup: () => Promise<T>): Promise<T> {
    await this.#turn(tenantId, signal);
    try {
      return await lookup();
    } finally {
      this.#running.splice(this.#running.indexOf(tenantId), 1);
      this.#beginNext();
    }
  }

  async #turn(tenantId: TenantId, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const one: Waiting = { tenantId, begin: () => resolve(undefined) };
    const abort = (): void => {
      this.#waiting = this.#waiting.filter((other) => other !== one);
      reject(signal.reason);
    };
    signal.addEventListener('abort', abort, { once: true });
    this.#waiting.push(one);
    this.#beginNext();
    await promise.finally(() => signal.removeEventListener('abort', abort));
  }

  #beginNext(): void {
    while (this.#running.length < MOST) {
      const next = this.#waiting.find(({ tenantId }) => !this.#running.includes(tenantId));
      if (next === undefined) return;
      this.#waiting = this.#waiting.filter((other) => other !== next);
      this.#running.push(next.tenantId);
      next.begin();
    }
  }
}
