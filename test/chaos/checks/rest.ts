// Nothing is stuck: all contexts rest, nothing waits in them, and their counters say what is stored.
import { parseTurn } from '../../../src/core/turn.ts';
import { groupBy, isEnded } from '../world.ts';
import type { Check, StoredContext, StoredJob, StoredMessage, Violation } from '../world.ts';
import { sayer } from './violation.ts';

const says = sayer('rest');

export const rest: Check = {
  name: 'rest',
  find({ contexts, jobs, messages, unsettled }) {
    const made = groupBy(messages, ({ context_id: id }) => id);
    const ofContext = groupBy(jobs, ({ context_id: id }) => id);
    const ofJob = groupBy(messages, ({ job_id: id }) => id);
    const ended = new Map(jobs.map(({ id, status }) => [id, isEnded(status)]));
    return [
      ...unsettled.map((what) => says(`not at rest in time: ${what}`, null)),
      ...contexts.flatMap((context) => [
        ...restFaults(context, ofContext.get(context.id) ?? []),
        ...counterFaults(context, made.get(context.id) ?? []),
      ]),
      ...messages
        .filter(
          ({ status, job_id: job }) => status === 'queued' && (job === null || ended.get(job) !== false),
        )
        .map(({ id, context_id: context, job_id: job }) =>
          says('a queued input without its job', context, id, job),
        ),
      ...jobs.flatMap((job) => tokenFaults(job, ofJob.get(job.id) ?? [])),
    ];
  },
};

function restFaults(context: StoredContext, jobs: readonly StoredJob[]): Violation[] {
  const queued = jobs.filter(({ status }) => status === 'queued').length;
  const faults: Violation[] = [];
  const note = (what: string): void => void faults.push(says(what, context.id));
  if (context.lease_owner !== null) note(`still owned by ${context.lease_owner}`);
  if (context.status !== 'idle') note(`still ${context.status}`);
  if (context.sweep_at !== null) note('a sweep still looks for it');
  if (!['Idle', 'PermanentFailure', 'Stopped'].includes(context.state)) note(`at rest in ${context.state}`);
  if (context.queued !== queued) note(`counts ${context.queued} queued, ${queued} are`);
  if (context.steers !== 0) note(`counts ${context.steers} inputs that wait to join a job`);
  if (context.barren_claims !== 0) note(`counts ${context.barren_claims} barren claims`);
  return faults;
}

/** What is visible is counted; what was paid for is counted even where it was taken back. */
function counterFaults(context: StoredContext, all: readonly StoredMessage[]): Violation[] {
  const visible = all.filter(({ status }) => status === 'completed');
  const answers = all.filter(({ role, seq }) => role === 'assistant' && seq !== null);
  const stored = {
    message_count: visible.length,
    // A note of the platform's own is nobody's turn.
    turn_count: Math.max(
      0,
      ...visible
        .filter(({ role }) => role !== 'system')
        .map(({ turn }) => parseTurn(turn ?? '')?.number ?? 0),
    ),
    request_count: answers.length,
    input_tokens: sum(answers.map((one) => one.input_tokens ?? 0)),
    output_tokens: sum(answers.map((one) => one.output_tokens ?? 0)),
  };
  return (Object.keys(stored) as (keyof typeof stored)[])
    .filter((name) => context[name] !== stored[name])
    .map((name) => says(`${name} is ${context[name]}, stored are ${stored[name]}`, context.id));
}

function tokenFaults(job: StoredJob, made: readonly StoredMessage[]): Violation[] {
  const spent = (name: 'input_tokens' | 'output_tokens'): number => sum(made.map((one) => one[name] ?? 0));
  return (['input_tokens', 'output_tokens'] as const)
    .filter((name) => job[name] !== spent(name))
    .map((name) =>
      says(`${name} of the job is ${job[name]}, stored are ${spent(name)}`, job.context_id, job.id),
    );
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
