/** `schedules run`, `pause`, `resume` and `remove`. */
import type { Command } from 'commander';
import { apiCommand, carryOut, print, type Cli, type Common } from '../../cli.ts';
import { oneLine } from '../../terminal/safe.ts';
import { findSchedule } from './schedule-text.ts';

const SCHEDULE = 'id or name of the schedule';

export function runScheduleCommand(cli: Cli): Command {
  return apiCommand('run', 'post the input of a schedule now; its next run does not change', [
    'nightshift schedules run report',
    'nightshift logs -f $(nightshift schedules run report)',
  ])
    .argument('<schedule>', SCHEDULE)
    .action((named: string, options: Common) =>
      carryOut(cli, options, async (client) => {
        const accepted = await client.schedules.runNow((await findSchedule(client, named)).id);
        print(cli, options, accepted, `${accepted.job_id}\n`);
      }),
    );
}

export function scheduleSwitchCommand(cli: Cli, verb: 'pause' | 'resume'): Command {
  const summary =
    verb === 'pause' ? 'start no runs until resume' : 'start runs again; its catch-up decides about missed ones';
  return apiCommand(verb, summary, [`nightshift schedules ${verb} report`])
    .argument('<schedule>', SCHEDULE)
    .action((named: string, options: Common) =>
      carryOut(cli, options, async (client) => {
        const { id } = await findSchedule(client, named);
        const changed = await client.schedules.update(id, { paused: verb === 'pause' });
        const next = changed.next_run_at === null ? '' : ` Its next run is at ${changed.next_run_at}.`;
        const state = changed.paused ? 'is paused.' : 'is active.';
        print(cli, options, changed, `${oneLine(changed.name)} ${state}${next}\n`);
      }),
    );
}

export function removeScheduleCommand(cli: Cli): Command {
  return apiCommand('remove', 'delete a schedule and its run log; jobs that it started go on', [
    'nightshift schedules remove report',
  ])
    .argument('<schedule>', SCHEDULE)
    .action((named: string, options: Common) =>
      carryOut(cli, options, async (client) => {
        const { id, name } = await findSchedule(client, named);
        await client.schedules.delete(id);
        print(cli, options, { id }, `${oneLine(name)} is deleted.\n`);
      }),
    );
}
