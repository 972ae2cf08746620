/** `interrupt`: stops the running answer of a context, and by default removes it. */
import { Option, type Command } from 'commander';
import type { Interrupt, Interruption } from '../../../client/index.ts';
import { apiCommand, carryOut, print, type Cli, type Common } from '../../cli.ts';
import { findContextOf } from '../../find/find.ts';
import { oneLine } from '../../terminal/safe.ts';
import { count } from '../../terminal/time.ts';
import { duration } from '../../values.ts';

type Options = Common & { mode: NonNullable<Interrupt['mode']>; wait: number };

export function interruptCommand(cli: Cli): Command {
  return apiCommand('interrupt', 'stop the running job of a context and remove its answer', [
    'nightshift interrupt ada',
    'nightshift interrupt 0199… --mode keep',
  ])
    .argument('<context|job|worker>', 'the context, by its own id or by a job or worker')
    .addOption(
      new Option(
        '--mode <mode>',
        'messages to remove: the answer (discard), the answer and its inputs (rollback), none (keep)',
      )
        .choices(['discard', 'rollback', 'keep'])
        .default('discard'),
    )
    .option('--wait <time>', 'how long to wait for the job to stop', duration, 10_000)
    .action((named: string, options: Options) =>
      carryOut(cli, options, async (client) => {
        const contextId = await findContextOf(client, named);
        const { mode, wait } = options;
        const ended = await client.contexts.interrupt(contextId, { mode, wait_ms: Math.min(wait, 60_000) });
        print(cli, options, ended, format(ended));
      }),
    );
}

function format({ job_id, status, removed_messages, effects, stopped_at }: Interruption): string {
  if (job_id === null) return 'No job is running in this context.\n';
  const lines = [
    stopped_at === null
      ? `Stop requested; job ${job_id} has not stopped yet (${status}).`
      : `Job ${job_id} stopped (${status}).`,
    ...(removed_messages.length === 0 ? [] : [`${count(removed_messages.length, 'message')} removed.`]),
    ...effects.map(
      ({ name, status: how, effect }) => `Had already started: ${oneLine(name)} (${how}, effect ${effect}).`,
    ),
  ];
  return `${lines.join('\n')}\n`;
}
