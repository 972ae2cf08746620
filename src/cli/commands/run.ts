/** `run`: gives a worker something to do, follows it, and ends as it ended. */
import { Option } from 'commander';
import type { Command } from 'commander';
import type { Accepted, Client, Json, PostMessage } from '../../client/index.ts';
import { apiCommand, carryOut } from '../cli.ts';
import type { Cli, Common } from '../cli.ts';
import { CommandError, EXIT } from '../exit.ts';
import type { Exit } from '../exit.ts';
import { runInteractive } from '../following/run-interactive.ts';
import type { RunInteractiveOptions } from '../following/run-interactive.ts';
import { readTask } from '../read-task.ts';
import { target } from '../target.ts';
import type { TargetOptions } from '../target.ts';
import { targetOptions } from '../target-options.ts';
import { instant, member, wholeNumber } from '../values.ts';

type Options = Common &
  TargetOptions &
  RunInteractiveOptions & {
    file?: string;
    delivery?: NonNullable<PostMessage['delivery']>;
    branch?: string;
    priority?: number;
    maxSteps?: number;
    deadline?: string;
    metadata?: { [key: string]: Json };
    detach?: true;
  };

export function runCommand(cli: Cli): Command {
  const command = apiCommand(
    'run',
    'gives a worker a task, shows its answer as it is made, and ends as the job ended',
    [
      'nightshift run "Sort the inbox." --role support',
      'nightshift run "And now the drafts." --worker ada',
      'git diff | nightshift run - --model anthropic/claude-sonnet-4-5 > review.md',
      'nightshift run --file task.md --detach --json | jq -r .job_id',
      'nightshift run "call: remember {\\"key\\": \\"k\\", \\"value\\": \\"v\\"}" --tool remember --yes',
    ],
  ).argument('[task]', 'what is to be done; - reads it from standard input');
  return targetOptions(command)
    .option('-f, --file <file>', 'reads the task from a file')
    .addOption(
      new Option('--delivery <how>', 'what becomes of a job that is unfinished in the context').choices([
        'queue',
        'steer',
        'interrupt',
        'reject',
      ]),
    )
    .option('--branch <name>', 'the branch; without it: the active one')
    .option('--priority <n>', '1 goes first', wholeNumber(1, 10))
    .option('--max-steps <n>', 'model calls at most', wholeNumber(1, 1_000_000))
    .option('--deadline <time>', 'when it must have ended: an instant, or a time from now (30m)', instant(1))
    .option('--metadata <name=value>', 'what the job carries; may be given several times', member)
    .option('-d, --detach', 'does not wait: says where the job is, and ends')
    .option('--keep', 'Ctrl-C leaves, and the job goes on; without it Ctrl-C cancels the job')
    .option('-y, --yes', 'approves every call that asks')
    .option('--no-input', 'asks nobody: ends with 6 when the job waits for a person')
    .option('--stream', 'the text as it is made on stdout; what a terminal is given unasked')
    .option('--no-stream', 'only the final answer on stdout; what a pipe is given unasked')
    .option('--thinking', 'what the model thinks, on stderr')
    .option('-q, --quiet', 'no progress on stderr')
    .action((task: string | undefined, options: Options) =>
      carryOut(cli, options, (client) => run(cli, client, task, options)),
    );
}

async function run(cli: Cli, client: Client, task: string | undefined, options: Options): Promise<Exit> {
  if (options.detach === true && (options.keep === true || options.yes === true))
    throw new CommandError(EXIT.usage, '--detach leaves at once: --keep and --yes have no meaning with it.');
  const content = await readTask(task, options.file);
  if (options.detach === true) return detach(cli, await send(client, content, options), options);
  return runInteractive(cli, client, options, () => send(client, content, options));
}

async function send(client: Client, content: string, options: Options): Promise<Accepted> {
  const contextId = await target(client, options);
  const { delivery, branch, priority, maxSteps, deadline, metadata } = options;
  return client.contexts.send(contextId, {
    content,
    ...(delivery === undefined ? {} : { delivery }),
    ...(branch === undefined ? {} : { branch }),
    ...(priority === undefined ? {} : { priority }),
    ...(maxSteps === undefined ? {} : { max_steps: maxSteps }),
    ...(deadline === undefined ? {} : { deadline }),
    ...(metadata === undefined ? {} : { metadata }),
  });
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
