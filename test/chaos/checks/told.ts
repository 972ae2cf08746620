// The API says what is stored: of contexts, of their messages in order, of their jobs.
import { groupBy } from '../world.ts';
import type { Check, StoredContext, StoredJob, StoredMessage, Told, Violation } from '../world.ts';
import { sayer } from './violation.ts';

const says = sayer('told');

export const told: Check = {
  name: 'told',
  find(world) {
    const answers = new Map(world.told.map((one) => [one.contextId, one]));
    const messages = groupBy(world.messages, ({ context_id: id }) => id);
    const jobs = groupBy(world.jobs, ({ context_id: id }) => id);
    return world.contexts.flatMap((context) => {
      const answer = answers.get(context.id);
      if (answer === undefined) return [says('the API does not know it', context.id)];
      return [
        ...contextFaults(context, answer),
        ...messageFaults(context.id, messages.get(context.id) ?? [], answer),
        ...jobFaults(context.id, jobs.get(context.id) ?? [], answer),
      ];
    });
  },
};

function contextFaults(context: StoredContext, answer: Told): Violation[] {
  const pairs = [
    ['state', context.state, answer.state],
    ['message_count', context.message_count, answer.messageCount],
    ['turn_count', context.turn_count, answer.turnCount],
    ['request_count', context.request_count, answer.requestCount],
    ['input_tokens', context.input_tokens, answer.inputTokens],
    ['output_tokens', context.output_tokens, answer.outputTokens],
  ] as const;
  return pairs
    .filter(([, stored, said]) => stored !== said)
    .map(([name, stored, said]) => says(`${name} is ${stored}, the API says ${said}`, context.id));
}

/** What is in history, then what is queued; in the order and in the words that are stored. */
function messageFaults(contextId: string, stored: readonly StoredMessage[], { messages }: Told): Violation[] {
  const listed = stored
    .filter(({ status }) => status === 'completed' || status === 'queued')
    .toSorted((a, b) => (a.seq ?? Infinity) - (b.seq ?? Infinity));
  const at = listed.findIndex(({ id, seq, role, turn, content }, index) => {
    const said = messages[index];
    if (said?.id !== id || said.seq !== seq || said.role !== role || said.turn !== turn) return true;
    return canonical(said.content) !== canonical(content);
  });
  if (at !== -1)
    return [says(`message ${at + 1} of the list is not what is stored`, contextId, listed[at]?.id ?? null)];
  return listed.length === messages.length
    ? []
    : [says(`${messages.length} messages are listed, ${listed.length} are stored`, contextId)];
}

function jobFaults(contextId: string, stored: readonly StoredJob[], { jobs }: Told): Violation[] {
  const said = new Map(jobs.map((job) => [job.id, job]));
  return [
    ...(jobs.length === stored.length
      ? []
      : [says(`${jobs.length} jobs are listed, ${stored.length} are stored`, contextId)]),
    ...stored.flatMap((job) => {
      const one = said.get(job.id);
      const same =
        one?.status === job.status &&
        one.steps === job.steps &&
        one.output === job.output_message_id &&
        one.code === job.error_code;
      return same ? [] : [says('the API says something else of the job than is stored', contextId, job.id)];
    }),
  ];
}

/** JSON that does not depend on the order of members: jsonb has its own. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? '';
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`;
}
