/** `resolve`: records the outcome of a tool call whose outcome is unknown. */
import { Argument, type Command } from 'commander';
import type { ResolveToolCall } from '../../../client/index.ts';
import { findItem } from '../../asking/find-item.ts';
import { apiCommand, carryOut, print, type Cli, type Common } from '../../cli.ts';
import { given } from '../../values.ts';

type Outcome = ResolveToolCall['outcome'];
type Options = Common & { result?: string };

export function resolveCommand(cli: Cli): Command {
  return apiCommand('resolve', 'record what happened to a tool call whose outcome is unknown', [
    'nightshift resolve 0199… happened --result "Paid, number 4711."',
    'nightshift resolve 0199… did_not_happen      # the call runs again',
    'nightshift resolve 0199… tell                # the model is told that the outcome is unknown',
  ])
    .argument('<call>', 'id of the tool call, from nightshift inbox')
    .addArgument(new Argument('<outcome>', 'what happened to the call').choices(['happened', 'did_not_happen', 'tell']))
    .option('--result <text>', 'with happened: the result of the call')
    .action((named: string, outcome: Outcome, options: Options) =>
      carryOut(cli, options, async (client) => {
        const { context_id, tool_call_id } = await findItem(client, named, 'unknown_outcome');
        const { result } = options;
        const call = await client.tools.resolve(context_id, tool_call_id, { outcome, ...given({ result }) });
        print(cli, options, call, `Recorded. Job ${call.job_id} continues.\n`);
      }),
    );
}
