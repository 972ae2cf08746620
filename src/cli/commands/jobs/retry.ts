/** `retry`: runs jobs again that have failed or stopped, by id or by a filter. */
import type { Command } from 'commander';
import type { Client, Job, Message, RetriedJob } from '../../../client/index.ts';
import { apiCommand, carryOut, doEach, type Cli, type Common } from '../../cli.ts';
import { CommandError, EXIT, type Exit } from '../../exit.ts';
import { findJobId } from '../../find/find.ts';
import { given } from '../../values.ts';
import { inputOf } from './job-input.ts';
import { filterOf, retryMatching, retryFilter, type FilterOptions } from './retry-matching.ts';

type Options = Common & FilterOptions & { again?: true };

export function retryCommand(cli: Cli): Command {
  const command = apiCommand('retry', 'run jobs again that have failed or stopped; print the new jobs', [
    'nightshift retry 0199…',
    'nightshift logs -f $(nightshift retry 0199…)',
    'nightshift retry 0199… --again            # sends the input again, as a new message',
    'nightshift retry --status failed --role support --since 2h --dry-run',
    'nightshift retry --status failed --since 2h --limit 100 --yes   # asks for confirmation without --yes',
  ])
    .argument('[jobs...]', 'ids of jobs')
    .option('--again', 'send the input again, instead of going on from the history that the job left')
    .option('--dry-run', 'with a filter: show what would be retried, and retry nothing');
  return retryFilter(command).action((jobs: string[], options: Options) =>
    carryOut(cli, options, async (client): Promise<Exit> => {
      const filter = await filterOf(client, options);
      const hasFilter = Object.keys(filter).length > 0;
      const isOfFilter = options.dryRun === true || options.yes === true || options.limit !== undefined;
      if (hasFilter === jobs.length > 0 || (hasFilter ? options.again === true : isOfFilter))
        throw new CommandError(
          EXIT.usage,
          'Pass either job ids, with or without --again, or a filter, with or without --dry-run, --limit and --yes: --status, --context, --worker, --role, --user, --kind, --metadata, --since or --until.',
        );
      if (hasFilter) return retryMatching(cli, client, filter, options);
      const ids = new Set(await Promise.all(jobs.map((named) => findJobId(client, named))));
      const retries: Retry[] = [];
      for (const id of ids) retries.push(await prepare(client, await client.jobs.get(id), options));
      await doEach(cli, options, retries, async (retry) => {
        const done = await retry();
        return { done, text: `${done.job_id}\n` };
      });
      return EXIT.completed;
    }),
  );
}

type RefusalCode = NonNullable<RetriedJob['error']>['code'];

type Retry = () => Promise<{ job_id: string }>;

/** Throws if the job cannot be retried, before anything is sent. */
async function prepare(client: Client, job: Job, { again }: Options): Promise<Retry> {
  const input = await inputOf(client, job.context_id, job.input?.message_id ?? null);
  if (input === null && job.input !== null)
    throw refusal(`The input of job ${job.id} was withdrawn or deleted. Send it again with nightshift run.`);
  // A retracted input is no part of the history any more.
  if (again === true || input?.status === 'retracted') {
    refuseUnfit(job);
    return sendAgain(client, job, input);
  }
  await retryOne(client, job, true);
  return async () => ({ job_id: await retryOne(client, job, false) });
}

/** The id of the new job; empty in a dry run. Throws if the job cannot be retried. */
async function retryOne(client: Client, { id }: Job, isDry: boolean): Promise<string> {
  const { data } = await client.jobs.retryAll({ ids: [id], dry_run: isDry });
  const error = data[0]?.error ?? null;
  if (error !== null)
    throw refusal(`Job ${id} cannot be retried (${error.code}). ${error.message}${adviceOn(id, error.code)}`);
  return data[0]?.retry_job_id ?? '';
}

function adviceOn(id: string, code: RefusalCode): string {
  switch (code) {
    case 'not_ended':
      return ` Run nightshift cancel ${id}.`;
    case 'superseded':
      return ' To send it again, pass --again.';
    case 'completed':
    case 'input_missing':
      return ' Use nightshift run.';
    case 'not_found':
    case 'compaction':
    case 'context_busy':
    case 'worker_stopped':
    case 'queue_full':
    case 'quota_exceeded':
      return '';
  }
}

/** What is sent again must have ended without completing. */
function refuseUnfit({ id, kind, status }: Job): void {
  if (kind === 'compact') throw refusal(`Job ${id} is a compaction, which cannot be retried.`);
  switch (status) {
    case 'delayed':
    case 'queued':
    case 'running':
    case 'waiting':
      throw refusal(`Job ${id} has not ended (${status}). Cancel it first: nightshift cancel ${id}`);
    case 'completed':
      throw refusal(`Job ${id} is completed. Send its input again with nightshift run.`);
    case 'failed':
    case 'incomplete':
    case 'cancelled':
    case 'interrupted':
      return;
  }
}

function sendAgain(client: Client, job: Job, input: Message | null): Retry {
  const texts = (input?.content ?? []).flatMap((block) => (block.type === 'text' ? [block.text] : []));
  if (input === null || texts.length !== input.content.length)
    throw refusal(`Job ${job.id} has no input that is text alone. Send it again with nightshift run.`);
  const { branch } = job;
  return () => client.contexts.send(job.context_id, { content: texts.join('\n'), branch, ...optionsOf(job) });
}

function optionsOf({ id, user }: Job) {
  return { options_of: id, ...given({ user: user ?? undefined }) };
}

function refusal(message: string): CommandError {
  return new CommandError(EXIT.failed, message);
}
