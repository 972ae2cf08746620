/** `approve` and `deny`: decide calls by id, all calls of a context, or one after the other at the terminal. */
import type { Command } from 'commander';
import type { Client, InboxItem, Json, Resolved } from '../../../client/index.ts';
import { findItem } from '../../asking/find-item.ts';
import { askInPlace } from '../../asking/in-place.ts';
import { apiCommand, carryOut, print, type Cli, type Common } from '../../cli.ts';
import { CommandError, EXIT } from '../../exit.ts';
import { findContextId } from '../../find/find.ts';
import { count } from '../../terminal/time.ts';
import { duration, given, jsonObject } from '../../values.ts';

type Options = Common & {
  all?: true;
  context?: string;
  remember?: true;
  for?: number;
  reason?: string;
  input?: { [key: string]: Json };
};
type Decision = 'approve' | 'deny';
type Judgement = Options & { decision: Decision };

export function approveCommand(cli: Cli): Command {
  return decisionCommand(cli, 'approve', 'approve tool calls that wait for approval', [
    'nightshift approve                        # prompts for each waiting call',
    'nightshift approve 0199…                  # id of the call, from nightshift inbox',
    'nightshift approve 0199… --remember       # and all later calls of this tool in its context',
    'nightshift approve 0199… --remember --for 8h',
    'nightshift approve 0199… --input \'{"amount": 10}\'',
    'nightshift approve --all --context 0199…',
  ])
    .option('--input <json>', 'run the call with this input instead of the model’s', jsonObject)
    .option('--for <time>', 'with --remember: how long (30d)', duration);
}

export function denyCommand(cli: Cli): Command {
  return decisionCommand(cli, 'deny', 'deny tool calls that wait for approval; the model is informed', [
    'nightshift deny 0199… --reason "Not without an invoice."',
    'nightshift deny --all --context 0199…',
  ]);
}

function decisionCommand(cli: Cli, decision: Decision, summary: string, examples: readonly string[]): Command {
  return apiCommand(decision, summary, examples)
    .argument('[calls...]', 'ids of tool calls')
    .option('-a, --all', 'all waiting calls of --context')
    .option('-c, --context <id>', 'context for --all')
    .option('--remember', 'apply the decision to later calls of this tool in this context')
    .option('--reason <text>', 'reason, passed to the model')
    .action((calls: string[], options: Options) =>
      carryOut(cli, options, (client) => judge(cli, client, calls, { ...options, decision })),
    );
}

async function judge(cli: Cli, client: Client, calls: readonly string[], judgement: Judgement): Promise<void> {
  const { decision, all, context, remember, reason, input } = judgement;
  if (judgement.for !== undefined && remember !== true) throw new CommandError(EXIT.usage, '--for needs --remember.');
  const seconds = judgement.for === undefined ? undefined : Math.ceil(judgement.for / 1_000);
  const approval = { decision, ...given({ remember, remember_for_s: seconds, reason, input }) };
  if (all === true) {
    if (context === undefined || calls.length > 0)
      throw new CommandError(EXIT.usage, '--all requires --context and takes no call ids.');
    return printResolved(
      cli,
      judgement,
      await client.tools.approve(await findContextId(client, context), { ...approval, all }),
    );
  }
  if (calls.length === 0) return judgeInPlace(cli, client, judgement);
  const items: InboxItem[] = [];
  for (const named of calls) items.push(await findItem(client, named, 'approval'));
  const resolved: string[] = [];
  try {
    for (const { context_id, tool_call_id } of items)
      resolved.push(...(await client.tools.approve(context_id, { ...approval, tool_call_id })).resolved);
  } catch (error) {
    if (resolved.length > 0) printResolved(cli, judgement, { resolved });
    throw error;
  }
  printResolved(cli, judgement, { resolved });
}

function printResolved(cli: Cli, judgement: Judgement, { resolved }: Resolved): void {
  const done = judgement.decision === 'approve' ? 'approved' : 'denied';
  print(cli, judgement, { resolved }, `${count(resolved.length, 'call')} ${done}.\n`);
}

/** Prompts for every waiting item, one after the other. */
async function judgeInPlace({ screen }: Cli, client: Client, { json }: Options): Promise<void> {
  if (!screen.canAsk || json === true)
    throw new CommandError(EXIT.usage, 'Not a terminal: pass the ids of the calls. Run nightshift inbox to list them.');
  const place = askInPlace(client, screen);
  const items = await client.approvals.list({ limit: 200 }).all();
  if (items.length === 0) return screen.out('Nothing waits for a person.\n');
  for (const item of items) place.ask(item);
  await place.done();
}
