/** `cancel`: cancels jobs by id or by a filter. */
import { Option, type Command } from 'commander';
import type { CancelJobs, Client, Json, Receipt } from '../../../client/index.ts';
import { apiCommand, carryOut, doEach, print, type Cli, type Common } from '../../cli.ts';
import { CommandError, EXIT } from '../../exit.ts';
import { findContextId, findJobId, findWorker } from '../../find/find.ts';
import { count } from '../../terminal/time.ts';
import { duration, given, member } from '../../values.ts';

type Options = Common & {
  context?: string;
  worker?: string;
  role?: string;
  user?: string;
  status?: NonNullable<CancelJobs['status']>;
  metadata?: { [key: string]: Json };
  reason?: string;
  wait: number;
};

const UNFINISHED = ['delayed', 'queued', 'running', 'waiting'];

export function cancelCommand(cli: Cli): Command {
  return apiCommand('cancel', 'cancel jobs by id or by a filter', [
    'nightshift cancel 0199… --reason "no longer needed"',
    'nightshift cancel --worker ada            # jobs of a worker and its descendants',
    'nightshift cancel --status queued --metadata batch=7',
  ])
    .argument('[jobs...]', 'ids of jobs')
    .option('-c, --context <id>', 'unfinished jobs of a context')
    .option('-w, --worker <id|name>', 'jobs of a worker and its descendants')
    .option('-r, --role <role>', 'jobs of workers with this role')
    .option('-u, --user <name>', 'jobs on behalf of this end user')
    .addOption(new Option('-s, --status <status>', 'jobs with this status').choices(UNFINISHED))
    .option('--metadata <name=value>', 'jobs with this metadata; may be repeated', member)
    .option('--reason <text>', 'reason, stored with the job')
    .option('--wait <time>', 'how long to wait for each job to stop', duration, 10_000)
    .action((jobs: string[], options: Options) =>
      carryOut(cli, options, (client) => cancel(cli, client, jobs, options)),
    );
}

async function cancel(cli: Cli, client: Client, jobs: readonly string[], options: Options): Promise<void> {
  const filter = await filterOf(client, options);
  const hasFilter = Object.keys(filter).length > 0;
  if (hasFilter === jobs.length > 0)
    throw new CommandError(
      EXIT.usage,
      'Pass either job ids, or a filter: --context, --worker, --role, --user, --status or --metadata.',
    );
  const reason = given({ reason: options.reason });
  if (hasFilter) {
    const cancelled = await client.jobs.cancelAll({ ...filter, ...reason });
    return print(cli, options, cancelled, `${count(cancelled.count, 'job')} asked to stop.\n`);
  }
  const wait_ms = Math.min(options.wait, 60_000);
  const ids = new Set(await Promise.all(jobs.map((named) => findJobId(client, named))));
  await doEach(cli, options, ids, async (id) => {
    const receipt = await client.jobs.cancel(id, { wait_ms, ...reason });
    return { done: receipt, text: `${format(receipt)}\n` };
  });
}

async function filterOf(client: Client, options: Options): Promise<CancelJobs> {
  const { context, worker, role, user, status, metadata } = options;
  const contextId = context === undefined ? undefined : await findContextId(client, context);
  const workerId = worker === undefined ? undefined : (await findWorker(client, worker)).id;
  return given({ context_id: contextId, worker_id: workerId, role, user, status, metadata });
}

function format({ job_id, status, requested_at, stopped_at }: Receipt): string {
  if (requested_at === null) return `${job_id}: had already ended (${status}).`;
  return stopped_at === null
    ? `${job_id}: stop requested; the job has not stopped yet (${status}).`
    : `${job_id}: ${status}.`;
}
