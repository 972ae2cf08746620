/** `schedules`: lists the schedules of the tenant. Subcommands add, show, run, pause, resume and remove one. */
import type { Command } from 'commander';
import type { Schedule } from '../../../client/index.ts';
import { apiCommand, carryOut, withBelow, type Cli, type Common } from '../../cli.ts';
import { pageSize, printList, type List } from '../../list.ts';
import { wholeNumber } from '../../values.ts';
import { addScheduleCommand } from './add-schedule.ts';
import { removeScheduleCommand, runScheduleCommand, scheduleSwitchCommand } from './schedule-actions.ts';
import { scheduleRunsCommand, showScheduleCommand } from './show-schedule.ts';
import { lastOf, timingOf } from './schedule-text.ts';

export function schedulesCommand(cli: Cli): Command {
  const command = apiCommand('schedules', 'list schedules; add, show, run, pause, resume or remove one', [
    'nightshift schedules',
    'nightshift schedules add report "Write the report." --cron "0 9 * * MON-FRI" --timezone Europe/Berlin',
    'nightshift schedules runs report',
  ]).option('-n, --limit <n>', 'maximum number of schedules', wholeNumber(1, 10_000), 50);
  return withBelow(command, [
    addScheduleCommand(cli),
    showScheduleCommand(cli),
    runScheduleCommand(cli),
    scheduleSwitchCommand(cli, 'pause'),
    scheduleSwitchCommand(cli, 'resume'),
    removeScheduleCommand(cli),
    scheduleRunsCommand(cli),
  ]).action((options: Common & { limit: number }) =>
    carryOut(cli, options, (client) =>
      printList(cli, options, client.schedules.list({ limit: pageSize(options.limit) }), LIST),
    ),
  );
}

const LIST: List<Schedule> = {
  none: 'No schedules.',
  columns: [
    { title: 'ID', cell: ({ id }) => id, isId: true },
    { title: 'NAME', cell: ({ name }) => name },
    { title: 'WHEN', cell: timingOf },
    { title: 'NEXT RUN', cell: ({ paused, next_run_at }) => (paused ? 'paused' : (next_run_at ?? '–')) },
    { title: 'LAST RUN', cell: ({ last_run }) => lastOf(last_run), spare: 1 },
  ],
};
