/** Inserts long conversations into the database, as runs would have stored them. */
import type postgres from 'postgres';
import { MAIN, forked, whole, type Span } from '../../src/core/conversation/branch.ts';

/** A context with `length` messages on its active branch, at the given branch depth below `main`. */
export type Long = { contextId: string; length: number; depth: number; branch: string };

/** Each branch starts at the end of the previous one, so the last one reads all of them, in equal parts. */
export async function giveHistory(sql: postgres.Sql, contextId: string, length: number, depth: number): Promise<Long> {
  const names = Array.from({ length: depth + 1 }, (_, index) => (index === 0 ? MAIN : `line-${index}`));
  await sql`
    insert into messages (id, tenant_id, context_id, branch, seq, role, type, turn, status, content, completed_at)
    select gen_random_uuid(), c.tenant_id, c.id, (${names}::text[])[1 + (n - 1) * ${names.length}::int / ${length}::int], n,
      case n % 2 when 1 then 'user' else 'assistant' end, 'text',
      case n % 2 when 1 then 'u' else 'a' end || ((n + 1) / 2), 'completed',
      jsonb_build_array(jsonb_build_object('type', 'text', 'text', 'Message ' || n || ' of an old conversation, of no importance.')),
      now()
    from contexts c, generate_series(1, ${length}::int) n where c.id = ${contextId}`;
  let spans: Span[] = whole(MAIN);
  for (const [index, name] of names.entries()) {
    if (index === 0) continue;
    const forkSeq = Math.ceil((index * length) / names.length);
    spans = forked(spans, forkSeq, name, forkSeq);
    await sql`
      insert into branches (context_id, tenant_id, name, parent_name, fork_seq, spans)
      select id, tenant_id, ${name}, ${names[index - 1] ?? MAIN}, ${forkSeq}, ${JSON.stringify(spans)}::text::jsonb
      from contexts where id = ${contextId}`;
  }
  const branch = names.at(-1) ?? MAIN;
  await sql`
    update contexts set head_seq = ${length}, message_count = ${length}, turn_count = ${length / 2}, active_branch = ${branch}
    where id = ${contextId}`;
  return { contextId, length, depth, branch };
}
