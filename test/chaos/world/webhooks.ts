// What receivers of webhooks got, and what is stored of it. Times are of the wall clock, in milliseconds.
import { all, withDatabase } from './database.ts';

/**
 * `every`: all events of the default tenant. `named`: only what inputs name it for. `paused`, `deleted`: all events of
 * these tenants; the receiver of `deleted` accepts nothing.
 */
export type HookName = 'every' | 'named' | 'paused' | 'deleted';

/** A request, in the order of arrival. */
export type Arrival = {
  hook: HookName;
  /** Of the delivery. */
  id: string;
  type: string;
  jobId: string | null;
  seq: number | null;
  at: number;
  isSigned: boolean;
  /** The number of its answer among those that accepted; null: it was refused, cut, or left before the answer. */
  accepted: number | null;
};

export type StoredDelivery = {
  id: string;
  hook: HookName;
  job_id: string | null;
  type: string;
  seq: number;
  status: string;
};

export type Webhooks = {
  arrivals: readonly Arrival[];
  /** All but those of the tenant that is deleted meanwhile. */
  stored: StoredDelivery[];
  /** Nothing was pending at the end. */
  isDrained: boolean;
  /** Since when both tenants are deleted. */
  goneAt: number;
};

export async function readDeliveries(
  databaseUrl: string,
  hooks: ReadonlyMap<string, HookName>,
): Promise<StoredDelivery[]> {
  const list = await withDatabase(databaseUrl, (db) =>
    all<Omit<StoredDelivery, 'hook'> & { webhook_id: string }>(
      db,
      'select id, webhook_id, job_id, type, seq, status from webhook_deliveries order by id',
    ),
  );
  return list.flatMap(({ webhook_id: webhook, ...delivery }) => {
    const hook = hooks.get(webhook);
    return hook === undefined || hook === 'deleted' ? [] : [{ ...delivery, hook }];
  });
}
