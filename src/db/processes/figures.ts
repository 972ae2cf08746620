/** The metrics that worker processes store in their rows, for scrapers of an API process. */
import { sql } from 'drizzle-orm';
import type { ProcessId } from '../../core/ids.ts';
import type { Json } from '../../core/json.ts';
import { addUse, storeUse, type CountedUse } from '../calls/tool-use.ts';
import type { Executor } from '../connection/client.ts';
import { encodeJson } from '../connection/codec.ts';
import { isDead, type LeaseTimes } from './processes.ts';

/** Larger metrics, in characters, are not stored. */
const MOST_FIGURES = 1_000_000;

/** Stores the metrics of a live process, as JSON, and in the same statement what it counted of tools. */
export async function leaveFigures(
  connection: Executor,
  id: ProcessId,
  figures: Json,
  use: readonly CountedUse[] = [],
): Promise<void> {
  const text = encodeJson(figures);
  if (text.length > MOST_FIGURES) return storeUse(connection, use);
  const counted = use.length === 0 ? sql`` : sql`with counted as (${addUse(use)})`;
  await connection.execute(
    sql`/* processes.record_metrics */ ${counted} update processes set metrics = ${text}::jsonb where id = ${id} and dead_at is null`,
  );
}

/** The metrics of live processes, newest processes first. */
export async function readFigures(executor: Executor, times: LeaseTimes): Promise<{ id: ProcessId; figures: Json }[]> {
  return executor.execute<{ id: ProcessId; figures: Json }>(
    sql`select p.id, p.metrics as figures from processes p where p.dead_at is null and not ${isDead(times)} order by p.id desc limit 500`,
  );
}
