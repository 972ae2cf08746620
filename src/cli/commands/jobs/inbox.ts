/** `inbox`: lists everything that waits for a person. */
import { Option, type Command } from 'commander';
import type { InboxItem, Operations } from '../../../client/index.ts';
import { questionOf } from '../../asking/item.ts';
import { apiCommand, carryOut, printList, type Cli, type Common, type List } from '../../cli.ts';
import { ago } from '../../terminal/time.ts';
import { given, wholeNumber } from '../../values.ts';

type Kind = NonNullable<NonNullable<Operations['GET /api/approvals']['query']>['kind']>;
type Options = Common & { kind?: Kind; user?: string; limit: number };

export function inboxCommand(cli: Cli): Command {
  return apiCommand('inbox', 'list everything that waits for a person, oldest first', [
    'nightshift inbox',
    "nightshift inbox --kind approval --json | jq -r '.data[].tool_call_id'",
  ])
    .addOption(
      new Option('-k, --kind <kind>', 'only items of this kind').choices(['approval', 'input', 'unknown_outcome']),
    )
    .option('-u, --user <name>', 'only items of this end user')
    .option('-n, --limit <n>', 'maximum number of rows', wholeNumber(1, 100_000), 50)
    .action((options: Options) =>
      carryOut(cli, options, async (client) => {
        const { kind, user, limit } = options;
        const query = { limit: Math.min(limit, 200), ...given({ kind, user }) };
        await printList(cli, options, client.approvals.list(query), LIST);
      }),
    );
}

const LIST: List<InboxItem> = {
  none: 'Nothing waits for a person.',
  columns: [
    { title: 'CALL', cell: ({ tool_call_id }) => tool_call_id },
    { title: 'KIND', cell: ({ kind }) => kind },
    { title: 'TOOL', cell: ({ name }) => name },
    { title: 'WAITS', cell: ({ requested_at }) => ago(requested_at), right: true },
    { title: 'WHAT', cell: (item) => questionOf(item)?.question ?? JSON.stringify(item.input) },
  ],
};
