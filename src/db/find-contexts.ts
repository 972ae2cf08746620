/**
 * Contexts that say what is looked for: in their title, in the name or role of their worker, in an id, or in the metadata of
 * their newest jobs. A page looks at so many contexts and no more, however few of them say it: what it costs does not grow
 * with the tenant.
 */
import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import type { ContextId } from '../core/ids.ts';
import type { Executor } from './client.ts';

/** Contexts that one page looks at. */
export const SCANNED = 2_000;
/** Jobs of each whose metadata is looked at. */
const JOBS = 20;

/** `upto`: the last that was looked at; null: there are no more. */
export type FoundContexts = { ids: ContextId[]; upto: ContextId | null };

/** Newest first, at most `limit`. `conditions`: of contexts `c` and their workers `w`. Upper or lower case does not matter, as far as the locale of the database knows letters. */
export async function findContexts(
  executor: Executor,
  q: string,
  conditions: SQL,
  limit: number,
): Promise<FoundContexts> {
  const says = (text: SQL): SQL => sql`strpos(lower(${text}), lower(${q}::text)) > 0`;
  const rows = await executor.execute<{ id: ContextId; scanned: boolean }>(sql`
    with scanned as materialized (
      select c.id, concat_ws(E'\\n', w.title, w.name, w.role, c.id, w.id) as text
      from contexts c join workers w on w.context_id = c.id
      where ${conditions} order by c.id desc limit ${SCANNED}
    )
    (select s.id, false as scanned from scanned s
      where ${says(sql`s.text`)} or exists (
        select 1 from (select j.metadata from jobs j where j.context_id = s.id order by j.id desc limit ${JOBS}) j
        where j.metadata <> '{}' and ${says(sql`j.metadata::text`)})
      order by s.id desc limit ${limit})
    union all
    (select s.id, true from scanned s where (select count(*) from scanned) = ${SCANNED} order by s.id limit 1)`);
  return {
    ids: rows.filter(({ scanned }) => !scanned).map(({ id }) => id),
    upto: rows.find(({ scanned }) => scanned)?.id ?? null,
  };
}
