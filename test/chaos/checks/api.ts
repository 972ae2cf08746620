// The API returns the stored contexts, their branches with their messages in order, and their jobs.
import { reads, whole } from '../../../src/core/conversation/branch.ts';
import { groupBy, type Check, type ReturnedContext, type ReturnedBranch, type Violation } from '../world/world.ts';
import type { StoredBranch, StoredContext, StoredJob, StoredMessage } from '../world/stored.ts';
import { reporter } from './violation.ts';

const violation = reporter('api');

export const api: Check = {
  name: 'api',
  find(world) {
    const answers = new Map(world.returned.map((one) => [one.contextId, one]));
    const messages = groupBy(world.messages, ({ context_id: id }) => id);
    const branches = groupBy(world.branches, ({ context_id: id }) => id);
    const jobs = groupBy(world.jobs, ({ context_id: id }) => id);
    return world.contexts.flatMap((context) => {
      const answer = answers.get(context.id);
      if (answer === undefined) return [violation('the API does not know it', context.id)];
      return [
        ...contextFaults(context, answer),
        ...branchesFaults(context, branches.get(context.id) ?? [], messages.get(context.id) ?? [], answer),
        ...jobFaults(context.id, jobs.get(context.id) ?? [], answer),
      ];
    });
  },
};

function contextFaults(context: StoredContext, answer: ReturnedContext): Violation[] {
  return unequal(context.id, null, [
    ['state', context.state, answer.state],
    ['message_count', context.message_count, answer.messageCount],
    ['turn_count', context.turn_count, answer.turnCount],
    ['request_count', context.request_count, answer.requestCount],
    ['input_tokens', context.input_tokens, answer.inputTokens],
    ['output_tokens', context.output_tokens, answer.outputTokens],
  ]);
}

type Pair = readonly [string, unknown, unknown];

function unequal(contextId: string, of: string | null, pairs: readonly Pair[]): Violation[] {
  return pairs
    .filter(([, stored, returned]) => stored !== returned)
    .map(([name, stored, returned]) =>
      violation(`${name} is ${String(stored)}, the API returns ${String(returned)}`, contextId, of),
    );
}

function branchesFaults(
  context: StoredContext,
  stored: readonly StoredBranch[],
  messages: readonly StoredMessage[],
  { branches }: ReturnedContext,
): Violation[] {
  const returned = new Map(branches.map((branch) => [branch.name, branch]));
  return [
    ...(branches.length === stored.length
      ? []
      : [violation(`${branches.length} branches are listed, ${stored.length} are stored`, context.id)]),
    ...stored.flatMap((branch) => {
      const one = returned.get(branch.name);
      return one === undefined
        ? [violation('the API does not know a branch', context.id, branch.name)]
        : branchFaults(context, branch, messages, one);
    }),
  ];
}

/** The history, then the queued inputs; in the stored order and with the stored text. */
function branchFaults(
  context: StoredContext,
  branch: StoredBranch,
  messages: readonly StoredMessage[],
  returned: ReturnedBranch,
): Violation[] {
  const spans = branch.spans ?? whole(branch.name);
  const history = messages
    .filter(({ status, branch: of, seq }) => status === 'completed' && reads(spans, { branch: of, seq: seq ?? 0 }))
    .toSorted((a, b) => (a.seq ?? 0) - (b.seq ?? 0));
  const queued = messages.filter((message) => message.status === 'queued' && message.branch === branch.name);
  return [
    ...unequal(context.id, branch.name, [
      ['active', branch.name === context.active_branch, returned.active],
      ['length', history.length, returned.length],
      ['message_count', branch.message_count, returned.messageCount],
      ['request_count', branch.request_count, returned.requestCount],
      ['input_tokens', branch.input_tokens, returned.inputTokens],
      ['output_tokens', branch.output_tokens, returned.outputTokens],
    ]),
    ...messageFaults(context.id, [...history, ...queued], returned),
  ];
}

function messageFaults(
  contextId: string,
  listed: readonly StoredMessage[],
  { name, messages }: ReturnedBranch,
): Violation[] {
  const at = listed.findIndex(({ id, seq, role, turn, content }, index) => {
    const returned = messages[index];
    if (returned?.id !== id || returned.seq !== seq || returned.role !== role || returned.turn !== turn) return true;
    return canonical(returned.content) !== canonical(content);
  });
  if (at !== -1)
    return [violation(`message ${at + 1} of the list is not what is stored`, contextId, name, listed[at]?.id ?? null)];
  return listed.length === messages.length
    ? []
    : [violation(`${messages.length} messages are listed, ${listed.length} are stored`, contextId, name)];
}

function jobFaults(contextId: string, stored: readonly StoredJob[], { jobs }: ReturnedContext): Violation[] {
  const returned = new Map(jobs.map((job) => [job.id, job]));
  return [
    ...(jobs.length === stored.length
      ? []
      : [violation(`${jobs.length} jobs are listed, ${stored.length} are stored`, contextId)]),
    ...stored.flatMap((job) => {
      const one = returned.get(job.id);
      const same =
        one?.status === job.status &&
        one.steps === job.steps &&
        one.output === job.output_message_id &&
        one.code === job.error_code;
      return same ? [] : [violation('the API returns another job than is stored', contextId, job.id)];
    }),
  ];
}

/** JSON with sorted members: jsonb has an order of its own. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? '';
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`;
}
