// The laws of every branch of an idle context: its visible history is valid and its own.
import { sql } from 'drizzle-orm';
import { isToolResult, isToolUse } from '../../../src/core/conversation/blocks.ts';
import { DEFAULT_TENANT } from '../../../src/core/ids.ts';
import { lastTurnOf, type Message } from '../../../src/core/conversation/message.ts';
import type { Executor } from '../../../src/db/connection/client.ts';
import { readHistory } from '../../../src/db/run/history.ts';
import type { World } from './world.ts';

export async function branchFaults(db: Executor, { contextId }: World): Promise<string[]> {
  const rows = await db.execute<{
    name: string;
    active: boolean;
    turns: number;
    own: number;
    counted: number;
  }>(sql`
    select b.name, b.name = c.active_branch as active, c.turn_count as turns, b.message_count as counted,
      (select count(*) from messages m where m.context_id = c.id and m.branch = b.name and m.status = 'completed'
        and m.seq > coalesce((b.spans -> -1 ->> 'after')::bigint, 0)) as own
    from contexts c join branches b on b.context_id = c.id where c.id = ${contextId}`);
  const faults = rows.some(({ active }) => active) ? [] : ['the active branch is missing'];
  for (const { name, active, turns, own, counted } of rows) {
    const history = await readHistory(db, { contextId, tenantId: DEFAULT_TENANT }, name);
    const found = [...transcriptFaults(history), ...turnFaults(history)];
    if (own !== counted) found.push(`the counter of its messages is wrong: ${counted}, not ${own}`);
    if (active && lastTurnOf(history) !== turns) found.push(`the counter of turns is wrong: ${turns}`);
    faults.push(...found.map((fault) => `${name}: ${fault}`));
  }
  return faults;
}

/** Every call has one result, after it and before the next answer. */
function transcriptFaults(history: readonly Message[]): string[] {
  const faults: string[] = [];
  const open = new Set<string>();
  const seen = new Set<string>();
  for (const { role, content } of history) {
    if (role === 'assistant' && open.size > 0) faults.push('the model answered while calls were open');
    for (const block of content) {
      if (isToolUse(block)) open.add(block.id);
      if (isToolResult(block) && !open.delete(block.tool_use_id)) faults.push('a result without an open call');
      if (isToolResult(block) && seen.has(block.tool_use_id)) faults.push('a call was answered twice');
      if (isToolResult(block)) seen.add(block.tool_use_id);
    }
  }
  if (open.size > 0) faults.push('a call was never answered');
  return faults;
}

/** Inputs are counted from 1, none is skipped, and the answer of an input comes after it. */
function turnFaults(history: readonly Message[]): string[] {
  let inputs = 0;
  for (const { role, turn } of history) {
    if (role === 'user') inputs += 1;
    const wanted = role === 'user' ? `u${inputs}` : `a${Math.max(1, inputs)}`;
    if (role !== 'system' && turn !== wanted) return [`turn ${turn} in place of turn ${wanted}`];
  }
  return [];
}
