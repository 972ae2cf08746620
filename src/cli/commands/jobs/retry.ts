/** `retry`: runs jobs again that have failed or stopped, by id or by a filter. */
import type { Command } from 'commander';
import type { Accepted, Client, Job, Message } from '../../../client/index.ts';
import { apiCommand, carryOut, doEach, type Cli, type Common } from '../../cli.ts';
import { CommandError, EXIT } from '../../exit.ts';
import { findJobId } from '../../find/find.ts';
import { PAGE } from '../../find/pick.ts';
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
  ])
    .argument('[jobs...]', 'ids of jobs')
    .option('--again', 'send the input again, instead of going on from the history that the job left')
    .option('--dry-run', 'with a filter: show what would be retried, and retry nothing');
  return retryFilter(command).action((jobs: string[], options: Options) =>
    carryOut(cli, options, async (client) => {
      const filter = await filterOf(client, options);
      const hasFilter = Object.keys(filter).length > 0;
      if (hasFilter === jobs.length > 0 || (hasFilter ? options.again === true : options.dryRun === true))
        throw new CommandError(
          EXIT.usage,
          'Pass either job ids, with or without --again, or a filter, with or without --dry-run: --status, --context, --worker, --role, --user, --kind, --metadata, --since or --until.',
        );
      if (hasFilter) return retryMatching(cli, client, filter, options);
      const ids = new Set(await Promise.all(jobs.map((named) => findJobId(client, named))));
      const retries: Retry[] = [];
      for (const id of ids) retries.push(await prepare(client, await client.jobs.get(id), options));
      await doEach(cli, options, retries, async (retry) => {
        const accepted = await retry();
        return { done: accepted, text: `${accepted.job_id}\n` };
      });
    }),
  );
}

type Retry = () => Promise<Accepted>;

/** Throws if the job cannot be retried, before anything is sent. */
async function prepare(client: Client, job: Job, { again }: Options): Promise<Retry> {
  refuseUnfit(job);
  const input = await inputOf(client, job.context_id, job.input?.message_id ?? null);
  if (input === null && job.input !== null)
    throw refusal(`The input of job ${job.id} was withdrawn or deleted. Send it again with nightshift run.`);
  // A retracted input is no part of the history any more.
  if (again === true || input?.status === 'retracted') return sendAgain(client, job, input);
  if (await hasGoneOn(client, job))
    throw refusal(
      `Later jobs exist on the branch of job ${job.id}, so its history has gone on. Send its input again with --again.`,
    );
  return () => client.contexts.retry(job.context_id, { branch: job.branch, ...optionsOf(job) });
}

/** Jobs of other branches leave the history of this one as it is, and so do compactions that have ended. */
async function hasGoneOn(client: Client, { id, context_id, branch }: Job): Promise<boolean> {
  for await (const job of client.jobs.list({ context_id, limit: PAGE })) {
    if (job.id === id) return false;
    if (job.branch === branch && !(job.kind === 'compact' && job.finished_at !== null)) return true;
  }
  return true;
}

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
