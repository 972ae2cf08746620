/** `run`: sends a task to a worker, follows the job, and exits with its result. */
import { Option, type Command } from 'commander';
import type { Accepted, Client, Json, OutputSchema, PostMessage } from '../../../client/index.ts';
import { apiCommand, carryOut, type Cli, type Common } from '../../cli.ts';
import { CommandError, EXIT, type Exit } from '../../exit.ts';
import { runInteractive, type RunInteractiveOptions } from '../../following/run-interactive.ts';
import { readJson, readTask } from '../../read-task.ts';
import { existingContext, newWorker, targetOptions, type TargetOptions } from '../../target.ts';
import { duration, given, instant, member, wholeNumber } from '../../values.ts';

type Options = Common &
  TargetOptions &
  RunInteractiveOptions & {
    file?: string;
    delivery?: NonNullable<PostMessage['delivery']>;
    branch?: string;
    priority?: number;
    maxSteps?: number;
    outputSchema?: string;
    deadline?: string;
    metadata?: { [key: string]: Json };
    user?: string;
    /** In milliseconds. */
    after?: number;
    at?: string;
    detach?: true;
  };

export function runCommand(cli: Cli): Command {
  const command = apiCommand('run', 'send a task to a worker, stream the answer, and exit with the result of the job', [
    'nightshift run "Sort the inbox." --role support',
    'nightshift run "And now the drafts." --worker ada',
    'git diff | nightshift run - --model anthropic/claude-sonnet-5-5 > review.md',
    'nightshift run --file task.md --detach --json | jq -r .job_id',
    'nightshift run "Send the reminder." --worker ada --after 10m',
    'nightshift run "call: remember {\\"key\\": \\"k\\", \\"value\\": \\"v\\"}" --tool remember --yes',
  ]).argument('[task]', 'the task; - reads standard input');
  return targetOptions(command)
    .option('-f, --file <file>', 'read the task from a file')
    .addOption(
      new Option('--delivery <how>', 'how to deliver the task while a job is unfinished in the context').choices([
        'queue',
        'steer',
        'interrupt',
        'reject',
      ]),
    )
    .option('--branch <name>', 'branch to use (default: the active branch)')
    .option('--priority <n>', 'priority; 1 is the highest', wholeNumber(1, 10))
    .option('--max-steps <n>', 'maximum number of model calls', wholeNumber(1, 1_000_000))
    .option('--output-schema <file>', 'JSON Schema that the answer must match; the answer is printed as JSON')
    .option('--deadline <time>', 'deadline of the job: a timestamp, or a time from now (30m)', instant(1))
    .option('--metadata <name=value>', 'metadata of the job; may be repeated', member)
    .option('-u, --user <name>', 'the end user on whose behalf the job runs')
    .option('--after <time>', 'start the job after this time (10m, 2h), and do not wait for it', duration)
    .option(
      '--at <time>',
      'start the job at this time: a timestamp, or a time from now (30m); do not wait for it',
      instant(1),
    )
    .option('-d, --detach', 'print the job id and exit without waiting')
    .option('--keep', 'on Ctrl-C, leave the job running instead of cancelling it')
    .option('-y, --yes', 'approve every tool call that needs approval')
    .option('--no-input', 'never prompt; exit with code 6 when the job waits for a person')
    .option('--stream', 'stream the text to stdout; the default on a terminal')
    .option('--no-stream', 'print only the final answer on stdout; the default in a pipe')
    .option('--thinking', 'print the model’s thinking on stderr')
    .option('-q, --quiet', 'print no progress on stderr')
    .action((task: string | undefined, options: Options) =>
      carryOut(cli, options, (client) => run(cli, client, task, options)),
    );
}

async function run(cli: Cli, client: Client, task: string | undefined, options: Options): Promise<Exit> {
  checkTogether(options);
  const content = await readTask(cli.input, { task, file: options.file });
  const schema = options.outputSchema;
  const given = schema === undefined ? {} : { output_schema: await readJson<OutputSchema>(cli.input, schema) };
  const post = (): Promise<Accepted> => send(client, { content, ...given }, options);
  if (options.detach === true || isDelayed(options)) return detach(cli, await post(), options);
  // An answer is not JSON before it has been checked.
  const shown = schema === undefined ? options : { ...options, stream: false, printsData: true };
  return runInteractive(cli, client, shown, post);
}

function isDelayed({ after, at }: Options): boolean {
  return after !== undefined || at !== undefined;
}

function checkTogether(options: Options): void {
  const { detach, keep, yes, worker, context, delivery, branch, after, at, outputSchema, stream } = options;
  if (outputSchema !== undefined && stream === true)
    throw new CommandError(
      EXIT.usage,
      '--output-schema prints the answer once it has been checked. Leave --stream out.',
    );
  if (after !== undefined && at !== undefined) throw new CommandError(EXIT.usage, 'Give --after or --at, not both.');
  if (isDelayed(options) && (keep === true || yes === true))
    throw new CommandError(
      EXIT.usage,
      '--after and --at do not wait for the job and cannot be combined with --keep or --yes.',
    );
  if (detach === true && (keep === true || yes === true))
    throw new CommandError(
      EXIT.usage,
      '--detach does not wait for the job and cannot be combined with --keep or --yes.',
    );
  const isNew = worker === undefined && context === undefined;
  if (isNew && (delivery !== undefined || branch !== undefined))
    throw new CommandError(
      EXIT.usage,
      '--delivery and --branch are for an existing context. Name it with --worker or --context.',
    );
}

async function send(
  client: Client,
  post: Pick<PostMessage, 'content' | 'output_schema'>,
  options: Options,
): Promise<Accepted> {
  const { delivery, branch, priority, maxSteps, deadline, metadata, user, after, at } = options;
  const delay = given({ after_s: after === undefined ? undefined : after / 1_000, at });
  const input = { ...post, ...delay, ...given({ priority, max_steps: maxSteps, deadline, metadata }) };
  const contextId = await existingContext(client, options);
  if (contextId !== null) return client.contexts.send(contextId, { ...input, ...given({ delivery, branch, user }) });
  const worker = { ...newWorker(options), ...given({ user }) };
  const { context_id, job_id, message_id, stream_url } = await client.workers.create({ ...worker, input });
  // An input whose time has passed is queued at once.
  const isLater = after !== undefined || (at !== undefined && Date.parse(at) > Date.now());
  return { job_id, message_id, context_id, status: isLater ? 'delayed' : 'queued', stream_url };
}

function detach({ screen }: Cli, accepted: Accepted, { json, quiet }: Options): Exit {
  if (json === true) screen.json(accepted);
  else screen.out(`${accepted.job_id}\n`);
  if (json !== true && quiet !== true) {
    screen.note(screen.sideInk('dim', `Follow it: nightshift logs -f ${accepted.job_id}`));
    screen.note(screen.sideInk('dim', `Wait for it: nightshift job ${accepted.job_id} --wait`));
  }
  return EXIT.completed;
}
