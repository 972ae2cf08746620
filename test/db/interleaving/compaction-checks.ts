// The laws of compactions, checked on an idle context: for each that was made, and for the valid ones on each branch.
import { sql } from 'drizzle-orm';
import { isToolResult, isToolUse } from '../../../src/core/conversation/blocks.ts';
import type { Compacted } from '../../../src/core/compaction/compacted.ts';
import { DEFAULT_TENANT } from '../../../src/core/ids.ts';
import type { Message } from '../../../src/core/conversation/message.ts';
import type { Executor } from '../../../src/db/connection/client.ts';
import { readBranch, readHistory } from '../../../src/db/run/history.ts';
import { marksIn } from './script.ts';
import type { World } from './world.ts';

export async function compactionFaults(db: Executor, world: World): Promise<string[]> {
  const { contextId } = world;
  const branches = await db.execute<{ name: string; cleared: number; last: number | null }>(sql`
    select b.name, (select coalesce(max(e.seq), 0) from events e
        where e.context_id = b.context_id and e.name = 'ContextCleared') as cleared,
      (select max(k.seq) from compactions k join jobs j on j.id = k.job_id where k.context_id = b.context_id
        and k.branch = b.name and k.type = 'llm' and j.status <> 'interrupted'
        and k.seq > coalesce((b.spans -> -1 ->> 'after')::bigint, 0)) as last
    from branches b where b.context_id = ${contextId}`);
  const faults = await madeFaults(db, world);
  for (const { name, cleared, last } of branches) {
    const place = { contextId, tenantId: DEFAULT_TENANT };
    const whole = await readHistory(db, place, name);
    const read = await readBranch(db, place, name);
    const found = read === null ? [] : standingFaults(whole, read.history, read.compacted, cleared);
    if (last !== null && (read?.compacted.summary?.seq ?? 0) < last) found.push('a summary is not valid');
    faults.push(...found.map((fault) => `${name}: ${fault}`));
  }
  return faults;
}

/** Each is recorded in the events, is of the branch of its job, and replaces messages up to one of that branch. */
async function madeFaults(db: Executor, { contextId }: World): Promise<string[]> {
  const rows = await db.execute<{ fault: string }>(sql`
    select fault from compactions k
      join jobs j on j.id = k.job_id
      left join events e on e.context_id = k.context_id and e.seq = k.seq
      left join branches b on b.context_id = k.context_id and b.name = k.branch
        and k.seq > coalesce((b.spans -> -1 ->> 'after')::bigint, 0),
    lateral (values
      (case when e.name is distinct from 'ContextCompacted' or e.data ->> 'compaction_id' <> k.id::text
        or (e.data ->> 'upto_seq')::bigint <> k.upto_seq or e.data ->> 'job_id' <> k.job_id::text
        or e.data ->> 'branch' <> k.branch then 'a compaction is not published as it is stored' end),
      (case when k.branch <> j.branch then 'a compaction is of another branch than its job' end),
      (case when k.upto_seq >= k.seq then 'a compaction stands for what came after it' end),
      (case when k.seq <= j.first_seq or k.seq > j.last_seq then 'a compaction was made outside its job' end),
      (case when k.tokens_after >= k.tokens_before then 'a compaction made a prompt longer' end),
      (case when b.name is not null and not exists (
        select 1 from messages m join jsonb_to_recordset(
          coalesce(b.spans, jsonb_build_array(jsonb_build_object('branch', b.name, 'after', 0)))
        ) as s(branch text, after bigint, upto bigint)
          on m.branch = s.branch and m.seq > s.after and (s.upto is null or m.seq <= s.upto)
        where m.context_id = k.context_id and m.seq = k.upto_seq)
        then 'a compaction stands for what is not on its branch' end)
    ) as faults(fault)
    where k.context_id = ${contextId} and fault is not null`);
  return rows.map(({ fault }) => fault);
}

/** `whole`: the full visible history of the branch; `left`: the remaining history beside the compaction. */
function standingFaults(
  whole: readonly Message[],
  left: readonly Message[],
  { summary, shortening }: Compacted,
  cleared: number,
): string[] {
  const faults: string[] = [];
  for (const mark of [summary, shortening]) {
    if (mark === null) continue;
    if (mark.seq <= cleared) faults.push('a compaction from before the clear is still valid');
    if (!whole.some(({ seq }) => seq === mark.uptoSeq))
      faults.push('a compaction that covers retracted messages is still valid');
  }
  const upto = summary?.uptoSeq ?? 0;
  const hidden = whole.filter(({ seq }) => seq <= upto);
  const rest = whole.filter(({ seq }) => seq >= upto);
  if (idsOf(left) !== idsOf(rest)) faults.push('the remaining history is not what no summary replaces');
  if (summary !== null && marksOf(hidden) !== marksIn(summary.text).sort().join())
    faults.push(`a summary of ${marksIn(summary.text).sort().join()} replaces ${marksOf(hidden)}`);
  const calls = new Set(hidden.flatMap(({ content }) => content.filter(isToolUse).map(({ id }) => id)));
  const results = whole.filter(({ seq }) => seq > upto).flatMap(({ content }) => content.filter(isToolResult));
  if (results.some(({ tool_use_id: id }) => calls.has(id))) faults.push('a summary cuts a call from its result');
  return faults;
}

function idsOf(messages: readonly Message[]): string {
  return messages.map(({ id }) => id).join();
}

function marksOf(messages: readonly Message[]): string {
  return messages
    .flatMap(({ content }) => marksIn(JSON.stringify(content)))
    .sort()
    .join();
}
