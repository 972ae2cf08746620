/** `interrupt`: takes the answer back that is being made in a context. */
import { Option } from 'commander';
import type { Command } from 'commander';
import type { Interrupt, Interruption } from '../../client/index.ts';
import { apiCommand, carryOut } from '../cli.ts';
import type { Cli, Common } from '../cli.ts';
import { findPlace } from '../find.ts';
import { oneLine } from '../terminal/safe.ts';
import { count } from '../terminal/time.ts';
import { duration } from '../values.ts';

type Options = Common & { mode: NonNullable<Interrupt['mode']>; wait: number };

export function interruptCommand(cli: Cli): Command {
  return apiCommand('interrupt', 'stops what runs in a context, and takes its answer back', [
    'nightshift interrupt ada',
    'nightshift interrupt 0199… --mode keep',
  ])
    .argument('<context|job|worker>', 'whose context')
    .addOption(
      new Option('--mode <mode>', 'what is taken back: the answer; the inputs, too; nothing that is finished')
        .choices(['discard', 'rollback', 'keep'])
        .default('discard'),
    )
    .option('--wait <time>', 'how long its end is waited for', duration, 10_000)
    .action((named: string, options: Options) =>
      carryOut(cli, options, async (client) => {
        const { contextId } = await findPlace(client, named);
        const { mode, wait } = options;
        const ended = await client.contexts.interrupt(contextId, { mode, wait_ms: Math.min(wait, 60_000) });
        if (options.json === true) cli.screen.json(ended);
        else cli.screen.out(format(ended));
      }),
    );
}

function format({ job_id, status, removed_messages, effects, stopped_at }: Interruption): string {
  if (job_id === null) return 'Nothing runs there.\n';
  const lines = [
    stopped_at === null
      ? `The wish is noted; job ${job_id} has not stopped yet (${status}).`
      : `Job ${job_id} stopped (${status}).`,
    ...(removed_messages.length === 0 ? [] : [`${count(removed_messages.length, 'message')} taken back.`]),
    ...effects.map(
      ({ name, status: how, effect }) => `Had begun: ${oneLine(name)} (${how}, effect ${effect}).`,
    ),
  ];
  return `${lines.join('\n')}\n`;
}
