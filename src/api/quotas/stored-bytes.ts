/**
 * How many bytes tenants with such a limit have stored. A measurement reads the row of each context of a tenant, so a
 * tenant is measured when a request asks, at most once in a second, and for at most a twentieth of the time. Until the
 * next measurement counts what this process has admitted since the last one.
 */
import type { TenantId } from '../../core/ids.ts';

/** Between two measurements of a tenant at least, in milliseconds, and in durations of a measurement. */
const PAUSE_MS = 1_000;
const PAUSE_DURATIONS = 20;

/** A tenant is forgotten when its measurement has been old for so long: longer than any request takes to use it. */
const REMEMBERED_MS = 600_000;

export type StoredBytes = {
  /** Measures the tenant, if that may be. Requests at the same time share a measurement. */
  refresh(id: TenantId): Promise<void>;
  /** By the last measurement; 0 if there was none. */
  measured(id: TenantId): number;
  /** What was admitted, except for what had ended when the last measurement began. Some of it may be measured too. */
  admitted(id: TenantId): number;
  /** When the next measurement may be, in milliseconds. */
  nextInMs(id: TenantId): number;
  /** Admits bytes. Returns a function that is called once, when they are stored. */
  begin(id: TenantId, bytes: number): () => void;
};

type Account = {
  /** Null: not measured yet. */
  last: { bytes: number; nextAt: number } | null;
  measuring: Promise<void> | null;
  /** Admitted bytes that are being stored. */
  underWay: number;
  /** Admitted bytes that were stored since the last measurement began. */
  ended: number;
};

/** `now`: in milliseconds, and only goes forward. */
export function createStoredBytes(read: (id: TenantId) => Promise<number>, now: () => number): StoredBytes {
  const accounts = new Map<TenantId, Account>();

  const accountOf = (id: TenantId): Account => {
    const account = accounts.get(id) ?? { last: null, measuring: null, underWay: 0, ended: 0 };
    accounts.set(id, account);
    return account;
  };

  const isOld = ({ last }: Account, sinceMs = 0): boolean => last === null || last.nextAt + sinceMs <= now();

  async function measure(id: TenantId, account: Account): Promise<void> {
    const [began, ended] = [now(), account.ended];
    const bytes = await read(id);
    const duration = now() - began;
    account.last = { bytes, nextAt: now() + Math.max(PAUSE_MS, PAUSE_DURATIONS * duration) };
    account.ended -= ended;
  }

  function forgetOld(): void {
    for (const [id, account] of accounts)
      if (isOld(account, REMEMBERED_MS) && account.measuring === null && account.underWay === 0) accounts.delete(id);
  }

  return {
    async refresh(id) {
      const account = accountOf(id);
      if (!isOld(account)) return;
      account.measuring ??= measure(id, account).finally(() => {
        account.measuring = null;
        forgetOld();
      });
      await account.measuring;
    },
    measured: (id) => accounts.get(id)?.last?.bytes ?? 0,
    admitted(id) {
      const { underWay, ended } = accountOf(id);
      return underWay + ended;
    },
    nextInMs: (id) => Math.max(0, (accounts.get(id)?.last?.nextAt ?? 0) - now()),
    begin(id, bytes) {
      const account = accountOf(id);
      account.underWay += bytes;
      return () => {
        account.underWay -= bytes;
        account.ended += bytes;
      };
    },
  };
}
