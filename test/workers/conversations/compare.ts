// Compares everything that clients can read of a conversation, and the history for the next prompt, with the reference.
// Each difference is one line of text.
import { sql } from 'drizzle-orm';
import { DEFAULT_TENANT, type ContextId, type MessageId } from '../../../src/core/ids.ts';
import type { Usage } from '../../../src/core/money/usage.ts';
import { assemble } from '../../../src/core/conversation/prompt.ts';
import { listBranches, listSiblings } from '../../../src/db/read/contexts/branch-views.ts';
import type { Database } from '../../../src/db/connection/client.ts';
import { findContext } from '../../../src/db/read/contexts/context-views.ts';
import { readBranch } from '../../../src/db/run/history.ts';
import { listMessages, type MessageView } from '../../../src/db/read/messages/message-views.ts';
import { callFaults, turnFaults } from '../../chaos/checks/transcripts.ts';
import { lastTurnOf, type Reference, type Branch } from './reference.ts';
import { expectedPrompt, lineOf, promptLines, shownLine, type Entry } from './entries.ts';
import { USAGE } from './scripted-ports.ts';

const ALL = {
  order: 'asc',
  retracted: false,
  compacted: true,
  after: { seq: null, queue: null },
  limit: 1_000,
} as const;

export async function differences({ db }: Database, contextId: ContextId, reference: Reference): Promise<string[]> {
  const messages = reference.branches.map((branch) => branchDifferences(db, contextId, reference, branch));
  const faults = (await Promise.all(messages)).flat();
  const rest = await Promise.all([
    contextDifferences(db, contextId, reference),
    rowDifferences(db, contextId, reference),
    listDifferences(db, contextId, reference),
    jobDifferences(db, contextId, reference),
    siblingDifferences(db, contextId, reference),
  ]);
  return [...faults, ...rest.flat()];
}

type Db = Database['db'];

/** One branch, message by message, and as the next run on it would read it. */
async function branchDifferences(
  db: Db,
  contextId: ContextId,
  reference: Reference,
  branch: Branch,
): Promise<string[]> {
  const { name, list } = branch;
  const range = { ...ALL, branch: name, turn: null };
  const [listed, history] = await Promise.all([
    listMessages(db, DEFAULT_TENANT, contextId, range),
    readBranch(db, { contextId, tenantId: DEFAULT_TENANT }, name),
  ]);
  const visible = reference.standsFor(branch);
  const summarised = visible.summary === null ? 0 : list.indexOf(visible.summary.upto) + 1;
  const shown = listed?.messages ?? [];
  const stands = shown.filter(({ status }) => status === 'completed');
  const lines = [
    ...list.map((entry) => lineOf(entry)),
    ...reference.queuedOn(name).map(({ words }) => `queued user text: ${words}`),
  ];
  const faults = differ(
    `the branch ${name} shows`,
    shown.map((message) => shownLine(message)),
    lines,
  );
  if (faults.length > 0) return faults;
  return [
    ...list.flatMap((entry, place) => identityFaults(name, entry, stands[place])),
    ...reference.queuedOn(name).flatMap(({ id }, place) => {
      const found = shown[stands.length + place]?.id;
      return found === id ? [] : [`${id} is queued on ${name} as ${found}`];
    }),
    ...lawFaults(reference, name, stands),
    ...differ(
      `a summary on ${name} stands for`,
      stands.filter(({ compacted }) => compacted).map((message) => shownLine(message)),
      list.slice(0, summarised).map((entry) => lineOf(entry)),
    ),
    ...differ(
      `a prompt of ${name} says`,
      promptLines(history === null ? [] : assemble(history.history, history.compacted)),
      expectedPrompt(list, visible),
    ),
  ];
}

/** A message of the platform is known from its first read; from then on it is the same wherever it is shown. */
function identityFaults(name: string, entry: Entry, message: MessageView | undefined): string[] {
  if (message === undefined) return [];
  entry.id ??= message.id;
  const isSame = entry.id === message.id && entry.jobId === message.jobId && entry.branch === message.branch;
  return isSame ? [] : [`${lineOf(entry)} on ${name} is ${message.id} of ${message.jobId} on ${message.branch}`];
}

/** Laws of any history, whatever the reference contains. Calls of an unfinished job may be open. */
function lawFaults(reference: Reference, name: string, stands: readonly MessageView[]): string[] {
  const rows = stands.map((message) => ({
    ...message,
    context_id: message.contextId,
    content: [...message.content],
  }));
  const calls = callFaults(rows).filter(
    ({ what }) => reference.job?.branch !== name || what !== 'calls without a result',
  );
  return [...calls, ...turnFaults(rows)].map(({ what, ids }) => `on ${name}: ${what} ${ids.join(' ')}`);
}

async function contextDifferences(db: Db, contextId: ContextId, reference: Reference): Promise<string[]> {
  const view = await findContext(db, DEFAULT_TENANT, contextId, {});
  if (view === null) return ['the context is gone'];
  const { activeBranch, branches, messageCount, turnCount, requestCount, usage } = view;
  return differ(
    'the context says',
    [activeBranch, branches.join(), `${messageCount} messages, ${turnCount} turns`, requests(requestCount, usage)],
    [
      reference.active,
      reference.branches.map(({ name }) => name).join(),
      `${reference.visible} messages, ${lastTurnOf(reference.branchOf(reference.active).list)} turns`,
      expectedRequests(reference.requests),
    ],
  );
}

async function rowDifferences(db: Db, contextId: ContextId, reference: Reference): Promise<string[]> {
  const [row] = await db.execute<{
    scheduling_status: string;
    queued: number;
    steers: number;
    uncounted: number;
  }>(
    sql`select scheduling_status, queued, steers,
        (select coalesce(sum(m.bytes), 0) from messages m where m.context_id = c.id) - stored_bytes as uncounted
      from contexts c where id = ${contextId}`,
  );
  return differ(
    'the mailbox says',
    [`${row?.scheduling_status}: ${row?.queued} queued, ${row?.steers} to join`, `${row?.uncounted} bytes not counted`],
    [
      `${reference.status}: ${reference.queue.length} queued, ${reference.job?.steers.length ?? 0} to join`,
      '0 bytes not counted',
    ],
  );
}

async function listDifferences(db: Db, contextId: ContextId, reference: Reference): Promise<string[]> {
  const views = await listBranches(db, DEFAULT_TENANT, contextId, { after: null, limit: 1_000 });
  return differ(
    'the list of branches says',
    (views ?? []).map(({ name, isActive, parent, forkMessageId, length, messageCount, requestCount, usage }) =>
      branchLine(name, isActive, parent, forkMessageId, length, messageCount, requests(requestCount, usage)),
    ),
    reference.branches.map(({ name, parent, fork, list, messages, requests: made }) =>
      branchLine(
        name,
        name === reference.active,
        parent,
        fork?.id ?? null,
        list.length,
        messages,
        expectedRequests(made),
      ),
    ),
  );
}

function branchLine(
  name: string,
  isActive: boolean,
  parent: string | null,
  fork: MessageId | null,
  length: number | null,
  messages: number,
  made: string,
): string {
  return `${name}${isActive ? ' (active)' : ''} of ${parent} behind ${fork}: shows ${length}, added ${messages}, ${made}`;
}

async function jobDifferences(db: Db, contextId: ContextId, reference: Reference): Promise<string[]> {
  const rows = await db.execute<{ id: string; status: string; branch: string; steps: number }>(
    sql`select id, status, branch, steps from jobs where context_id = ${contextId} order by id`,
  );
  const jobs = reference.jobs.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return differ(
    'the jobs are',
    rows.map(({ id, status, branch, steps }) => `${id} on ${branch} ${status} after ${steps}`),
    jobs.map(({ id, status, branch, steps }) => `${id} on ${branch} ${status} after ${steps}`),
  );
}

/** Of one message at a time: the number of entries selects it. */
async function siblingDifferences(db: Db, contextId: ContextId, reference: Reference): Promise<string[]> {
  const { list } =
    reference.branches[reference.entries.length % reference.branches.length] ?? reference.branchOf(reference.active);
  const entry = list[Math.floor(reference.entries.length / 2) % Math.max(1, list.length)];
  if (entry === undefined || entry.id === null) return [];
  const siblings = await listSiblings(db, DEFAULT_TENANT, contextId, entry.id);
  return differ(
    `beside ${lineOf(entry)} stand`,
    siblings.map(({ messageId, branch, turn, isActive }) => `${messageId} ${turn} on ${branch} ${isActive}`),
    expectedSiblings(reference, entry),
  );
}

/** The message that each branch shows at its place, with the message before it. */
function expectedSiblings(reference: Reference, entry: Entry): string[] {
  const shows = (branch: Branch, one: Entry) => branch.list.includes(one);
  const nearest = (one: Entry): Branch | undefined => {
    const those = reference.branches.filter((branch) => shows(branch, one));
    const named = (name: string) => those.find((branch) => branch.name === name);
    return named(reference.active) ?? named(one.branch) ?? those[0];
  };
  const line = nearest(entry)?.list ?? [];
  const before = line
    .slice(0, line.indexOf(entry))
    .findLast(({ role }) => (entry.role === 'user' ? role !== 'system' : role === 'user'));
  const found = reference.branches.flatMap(({ list }) => {
    if (before !== undefined && !list.includes(before)) return [];
    const after = list.slice(before === undefined ? 0 : list.indexOf(before) + 1);
    return after.find(({ role }) => role !== 'system') ?? [];
  });
  const order = (one: Entry) => reference.entries.indexOf(one);
  return [...new Set(found)]
    .sort((a, b) => order(a) - order(b))
    .map((one) => {
      const isActive = shows(reference.branchOf(reference.active), one);
      return `${one.id} ${one.turn} on ${nearest(one)?.name} ${isActive}`;
    });
}

function requests(count: number, usage: Usage): string {
  return `${count} requests, ${usage.input_tokens} and ${usage.output_tokens} tokens`;
}

function expectedRequests(count: number): string {
  return `${count} requests, ${count * USAGE.input_tokens} and ${count * USAGE.output_tokens} tokens`;
}

function differ(what: string, found: readonly string[], expected: readonly string[]): string[] {
  if (found.join('\n') === expected.join('\n')) return [];
  const indented = (lines: readonly string[]) => lines.map((line) => `\n    ${line}`).join('');
  return [`${what}${indented(found)}\n  in place of${indented(expected)}`];
}
