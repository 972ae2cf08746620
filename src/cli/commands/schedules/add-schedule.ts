/** `schedules add`: makes a schedule. */
import { Option, type Command } from 'commander';
import type { CreateSchedule, ScheduleTarget } from '../../../client/index.ts';
import { apiCommand, carryOut, print, type Cli, type Common } from '../../cli.ts';
import { CommandError, EXIT } from '../../exit.ts';
import { readTask } from '../../read-task.ts';
import { existingContext, newWorker, targetOptions, type TargetOptions } from '../../target.ts';
import { duration, given, instant } from '../../values.ts';

type Options = Common &
  TargetOptions &
  Pick<CreateSchedule, 'cron' | 'timezone' | 'at' | 'user' | 'overlap'> & {
    every?: number;
    file?: string;
    catchUp?: NonNullable<CreateSchedule['catch_up']>;
    jitter?: number;
    paused?: true;
  };

export function addScheduleCommand(cli: Cli): Command {
  const command = apiCommand('add', 'post a text at certain times, to a context or to a new worker each time', [
    'nightshift schedules add report "Write the report." --cron "0 9 * * MON-FRI" --timezone Europe/Berlin --role writer',
    'nightshift schedules add check "Check the inbox." --every 10m --worker ada --overlap skip',
    'nightshift schedules add reminder "Send the reminder." --at 2h --context 0199…',
  ])
    .argument('<name>', 'for people; other commands find the schedule by it')
    .argument('[text]', 'the input of each run; - reads standard input')
    .option('-f, --file <file>', 'read the input from a file')
    .option('--cron <expression>', 'five fields: minute, hour, day of month, month, day of week')
    .option('--every <time>', 'time between two runs (10m, 2h)', duration)
    .option('--at <time>', 'one run: a timestamp, or a time from now', instant(1))
    .option('--timezone <name>', 'IANA time zone of --cron (default: UTC)');
  return targetOptions(command)
    .addOption(
      new Option('--overlap <how>', 'while the job of the last run is unfinished (default: queue)').choices([
        'queue',
        'skip',
        'interrupt',
      ]),
    )
    .addOption(
      new Option('--catch-up <which>', 'which missed runs start late (default: one)').choices(['none', 'one', 'all']),
    )
    .option('--jitter <time>', 'start up to so much later', duration)
    .option('-u, --user <name>', 'the end user on whose behalf the jobs run')
    .option('--paused', 'do not start it yet')
    .action((name: string, task: string | undefined, options: Options) =>
      carryOut(cli, options, async (client) => {
        const { cron, timezone, at, user, overlap, catchUp, jitter, every, file, paused } = options;
        if ([cron, every, at].filter((one) => one !== undefined).length !== 1)
          throw new CommandError(EXIT.usage, 'Give one of --cron, --every and --at.');
        const content = await readTask(cli.input, { task, file });
        const contextId = await existingContext(client, options);
        const made = await client.schedules.create({
          name,
          content,
          target: contextId === null ? targetOf(options, name) : { context_id: contextId },
          ...given({ cron, timezone, at, user, overlap, paused, catch_up: catchUp }),
          ...given({ every_s: secondsOf(every), jitter_s: secondsOf(jitter) }),
        });
        print(cli, options, made, `${made.id}\n`);
        if (options.json !== true && made.next_run_at !== null)
          cli.screen.note(cli.screen.sideInk('dim', `Its next run is at ${made.next_run_at}.`));
      }),
    );
}

/** Without a name of its own, the worker gets that of the schedule. */
function targetOf(options: Options, name: string): ScheduleTarget {
  const worker = newWorker(options);
  return { worker: { ...worker, name: options.name ?? name } };
}

function secondsOf(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.round(ms / 1_000);
}
