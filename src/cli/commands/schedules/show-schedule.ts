/** `schedules show` and `schedules runs`. */
import type { Command } from 'commander';
import type { Schedule, ScheduleRun } from '../../../client/index.ts';
import { apiCommand, carryOut, print, type Cli, type Common } from '../../cli.ts';
import { printList, type List } from '../../list.ts';
import { oneLine } from '../../terminal/safe.ts';
import { wholeNumber } from '../../values.ts';
import { findSchedule, lastOf, reasonOf, timingOf } from './schedule-text.ts';

export function showScheduleCommand(cli: Cli): Command {
  return apiCommand('show', 'show one schedule', ['nightshift schedules show report'])
    .argument('<schedule>', 'id or name of the schedule')
    .action((named: string, options: Common) =>
      carryOut(cli, options, async (client) => {
        const schedule = await findSchedule(client, named);
        print(cli, options, schedule, describe(schedule));
      }),
    );
}

export function scheduleRunsCommand(cli: Cli): Command {
  return apiCommand('runs', 'list the runs of a schedule, newest first', ['nightshift schedules runs report'])
    .argument('<schedule>', 'id or name of the schedule')
    .option('-n, --limit <n>', 'maximum number of runs', wholeNumber(1, 500), 20)
    .action((named: string, options: Common & { limit: number }) =>
      carryOut(cli, options, async (client) => {
        const { id } = await findSchedule(client, named);
        await printList(cli, options, client.schedules.runs(id), { ...RUNS, filtered: true });
      }),
    );
}

function describe(schedule: Schedule): string {
  const { id, name, user, target, overlap, catch_up, jitter_s, paused_reason, next_run_at, last_run } = schedule;
  const lines: readonly (readonly [string, string | null])[] = [
    ['id', id],
    ['name', name],
    ['when', timingOf(schedule)],
    [
      'target',
      target.context_id === undefined ? `a new worker ${target.worker?.name}` : `context ${target.context_id}`,
    ],
    ['content', textOf(schedule)],
    ['user', user],
    ['overlap', overlap],
    ['catch up', catch_up],
    ['jitter', jitter_s === 0 ? null : `${jitter_s} s`],
    ['next run', schedule.paused ? 'paused' : (next_run_at ?? 'never')],
    ['paused', paused_reason],
    [
      'last run',
      last_run === null ? null : [lastOf(last_run), reasonOf(last_run)].filter((text) => text !== '').join(', '),
    ],
  ];
  return lines.flatMap(([label, text]) => (text === null ? [] : [`${label.padEnd(9)} ${oneLine(text)}\n`])).join('');
}

function textOf({ content }: Schedule): string {
  if (typeof content === 'string') return content;
  return content.map((block) => (block.type === 'text' ? block.text : `(${block.type})`)).join(' ');
}

const RUNS: List<ScheduleRun> = {
  none: 'No runs.',
  columns: [
    { title: 'AT', cell: ({ at }) => at },
    { title: 'OCCURRENCE', cell: ({ occurrence }) => occurrence ?? 'manual', spare: 1 },
    { title: 'STATUS', cell: ({ status }) => status },
    { title: 'JOB', cell: ({ job_id }) => job_id ?? '–', isId: true },
    { title: 'WHY', cell: reasonOf },
  ],
};
