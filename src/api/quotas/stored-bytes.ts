/**
 * How many bytes tenants with such a limit have stored. A measurement reads the row of each context of a tenant, so a
 * tenant is measured when a request asks, at most once in a second, and for at most a twentieth of the time, also if that
 * fails. Until the next measurement counts what this process has admitted since the last one.
 */
import type { TenantId } from '../../core/ids.ts';

/** Between two measurements of a tenant at least, in milliseconds, and in durations of a measurement. */
const PAUSE_MS = 1_000;
const PAUSE_DURATIONS = 20;

/** A tenant is forgotten when its measurement has been old for so long: longer than any request takes to use it. */
const REMEMBERED_MS = 600_000;
const FORGET_EVERY_MS = 60_000;

/** A measurement that takes longer, in milliseconds, is not waited for by requests that have room as far as is known. */
const SLOW_MS = 50;

export type StoredBytes = {
  /**
   * Measures the tenant, if that may be. Requests at the same time share a measurement. Rejects if it fails, and until
   * the next one if none has succeeded yet.
   */
  refresh(id: TenantId): Promise<void>;
  /** Whether the tenant was measured, and the last measurement took long. */
  isSlow(id: TenantId): boolean;
  /** By the last measurement; 0 if there was none. */
  measured(id: TenantId): number;
  /** What was admitted, except for what had ended when the last measurement began. Some of it may be measured too. */
  admitted(id: TenantId): number;
  /** When the next measurement may be, in milliseconds. */
  nextInMs(id: TenantId): number;
  /** Admits bytes. Returns a function that is called once, when they are stored, or are not stored after all. */
  begin(id: TenantId, bytes: number): (areStored: boolean) => void;
};

type Account = {
  /** By the last measurement; null: none has succeeded. */
  bytes: number | null;
  failure: unknown;
  tookMs: number;
  /** When the next measurement may be. */
  nextAt: number;
  measuring: Promise<void> | null;
  /** Admitted bytes that are being stored. */
  underWay: number;
  /** Admitted bytes that were stored since the last measurement began. */
  ended: number;
};

const NEW = { bytes: null, failure: null, tookMs: 0, measuring: null, underWay: 0, ended: 0 };

/** `now`: in milliseconds, and only goes forward. */
export function createStoredBytes(read: (id: TenantId) => Promise<number>, now: () => number): StoredBytes {
  const accounts = new Map<TenantId, Account>();

  const accountOf = (id: TenantId): Account => {
    const account = accounts.get(id) ?? { ...NEW, nextAt: now() };
    accounts.set(id, account);
    return account;
  };

  async function measure(id: TenantId, account: Account): Promise<void> {
    const [began, ended] = [now(), account.ended];
    try {
      account.bytes = await read(id);
      account.ended -= ended;
    } catch (error) {
      account.failure = error;
      throw error;
    } finally {
      account.tookMs = now() - began;
      account.nextAt = now() + Math.max(PAUSE_MS, PAUSE_DURATIONS * account.tookMs);
    }
  }

  let forgetAt = now() + FORGET_EVERY_MS;
  function forgetOld(): void {
    if (now() < forgetAt) return;
    forgetAt = now() + FORGET_EVERY_MS;
    for (const [id, { nextAt, measuring, underWay }] of accounts)
      if (nextAt + REMEMBERED_MS <= now() && measuring === null && underWay === 0) accounts.delete(id);
  }

  return {
    async refresh(id) {
      const account = accountOf(id);
      if (now() < account.nextAt) {
        if (account.bytes === null) throw account.failure;
        return;
      }
      account.measuring ??= measure(id, account).finally(() => {
        account.measuring = null;
        forgetOld();
      });
      await account.measuring;
    },
    isSlow(id) {
      const { bytes, tookMs } = accounts.get(id) ?? NEW;
      return bytes !== null && tookMs > SLOW_MS;
    },
    measured: (id) => accounts.get(id)?.bytes ?? 0,
    admitted(id) {
      const { underWay, ended } = accounts.get(id) ?? NEW;
      return underWay + ended;
    },
    nextInMs: (id) => Math.max(0, (accounts.get(id)?.nextAt ?? 0) - now()),
    begin(id, bytes) {
      const account = accountOf(id);
      account.underWay += bytes;
      return (areStored) => {
        account.underWay -= bytes;
        if (areStored) account.ended += bytes;
      };
    },
  };
}
