// The stored rows, read by the test directly with SQL of its own.
import type { SQL } from 'drizzle-orm';
import { expect } from 'vitest';
import type { Block } from '../../../src/core/conversation/blocks.ts';
import { OUTCOME_UNKNOWN } from '../../../src/core/conversation/closing-texts.ts';
import { DEFAULT_TENANT, type ContextId } from '../../../src/core/ids.ts';
import type { Message } from '../../../src/core/conversation/message.ts';
import type { Executor } from '../../../src/db/connection/client.ts';
import { readHistory } from '../../../src/db/run/history.ts';

export type Row = Record<string, unknown>;

/** PostgreSQL plans a text each time, and a statement with parameters once for each connection. */
export async function query(db: Executor, text: string | SQL): Promise<Row[]> {
  return [...(await db.execute<Row>(text))];
}

export async function history(db: Executor, contextId: ContextId): Promise<Message[]> {
  return readHistory(db, { contextId, tenantId: DEFAULT_TENANT }, 'main');
}

/** Every law of an idle context. */
export async function expectSound(db: Executor, contextId: ContextId): Promise<void> {
  const id = `'${contextId}'`;
  const numbers = await query(
    db,
    `select seq from messages where context_id = ${id} and seq is not null
     union all select seq from events where context_id = ${id} order by seq`,
  );
  expect(
    numbers.map((row) => row['seq']),
    'numbers without gaps',
  ).toEqual(numbers.map((_, index) => index + 1));
  const received = await history(db, contextId);
  // Retracted messages count as paid.
  const [paid] = await query(
    db,
    `select count(*) as request_count, coalesce(sum(input_tokens), 0) as input_tokens,
       coalesce(sum(output_tokens), 0) as output_tokens
     from messages where context_id = ${id} and role = 'assistant' and type <> 'partial'`,
  );
  const [size] = await query(
    db,
    `select coalesce(sum(bytes), 0) as stored_bytes from messages where context_id = ${id}`,
  );
  const [context] = await query(db, `select * from contexts where id = ${id}`);
  expect(context).toMatchObject({
    scheduling_status: 'idle',
    lease_owner: null,
    next_check_at: null,
    queued: 0,
    failed_claims: 0,
    head_seq: numbers.length,
    message_count: received.length,
    ...paid,
    ...size,
  });
  expectAnswered(received);
  expect(await query(db, `select 1 from tool_calls where context_id = ${id} and finished_at is null`)).toEqual([]);
  await expectJobsPublishedOnce(db, id);
}

/** Each job began once and ended once, as its row says. */
async function expectJobsPublishedOnce(db: Executor, id: string): Promise<void> {
  const jobs = await query(db, `select id, status, started_at from jobs where context_id = ${id} order by id`);
  const events = await query(
    db,
    `select name, data->>'job_id' as job, data->>'status' as status from events
     where context_id = ${id} and name in ('JobStarted', 'JobFinished')`,
  );
  for (const job of jobs) {
    const own = events.filter((event) => event['job'] === job['id']);
    expect(own.map((event) => `${String(event['name'])} ${String(event['status'])}`).sort()).toEqual([
      `JobFinished ${String(job['status'])}`,
      ...(job['started_at'] === null ? [] : ['JobStarted running']),
    ]);
  }
}

/** Every call has exactly one result, before the next answer. */
function expectAnswered(received: readonly Message[]): void {
  const open = new Set<string>();
  for (const message of received) {
    if (message.role !== 'tool') expect([...open], 'calls without a result').toEqual([]);
    for (const block of message.content) {
      if (block.type === 'tool_use') open.add(block.id);
      if (block.type === 'tool_result') expect(open.delete(block.tool_use_id), 'a result of a call').toBe(true);
    }
  }
  expect([...open]).toEqual([]);
}

/**
 * One line for each message: turn, role, content. Results of one round are in the order of their calls, named by them:
 * which of two parallel calls ended first is not a matter of the transcript.
 */
export function transcript(received: readonly Message[]): string[] {
  const places = new Map<string, { place: number; name: string }>();
  const lines: { line: string; place: number | null }[] = [];
  for (const { turn, role, content } of received) {
    content.forEach((block, place) => {
      if (block.type === 'tool_use') places.set(block.id, { place, name: block.name });
    });
    const call = content.flatMap((block) => (block.type === 'tool_result' ? [places.get(block.tool_use_id)] : []))[0];
    const shown = content.map(words).join(' ');
    lines.push({
      line: call === undefined ? `${turn} ${role}: ${shown}` : `${turn} ${role}: ${call.name} ← ${shown}`,
      place: call?.place ?? null,
    });
  }
  return inOrderOfCalls(lines);
}

function inOrderOfCalls(lines: { line: string; place: number | null }[]): string[] {
  const ordered: string[] = [];
  let group: { line: string; place: number }[] = [];
  const flush = (): void => {
    ordered.push(...group.sort((a, b) => a.place - b.place).map(({ line }) => line));
    group = [];
  };
  for (const { line, place } of lines) {
    if (place !== null) group.push({ line, place });
    else {
      flush();
      ordered.push(line);
    }
  }
  flush();
  return ordered;
}

function words(block: Block): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'thinking':
      return `(${block.text})`;
    case 'tool_use':
      return `→${block.name}`;
    case 'tool_result': {
      const content = typeof block.content === 'string' ? block.content : JSON.stringify(block.content);
      return content === OUTCOME_UNKNOWN.text ? 'unknown' : content;
    }
    case 'image':
    case 'document':
      return block.type;
  }
}
