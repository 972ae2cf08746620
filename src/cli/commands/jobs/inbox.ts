/** `inbox`: lists everything that waits for a person. */
import { Option, type Command } from 'commander';
import type { InboxItem, Operations } from '../../../client/index.ts';
import { questionOf } from '../../asking/item.ts';
import { apiCommand, carryOut, type Cli, type Common } from '../../cli.ts';
import { first, listText, moreText, pageSize, type List } from '../../list.ts';
import { oneLine } from '../../terminal/safe.ts';
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
        const query = { limit: pageSize(limit), ...given({ kind, user }) };
        const read = await first(client.approvals.list(query), limit + 1);
        const data = read.slice(0, limit);
        if (options.json === true) return cli.screen.json({ data });
        const list = { ...LIST, filtered: kind !== undefined || user !== undefined };
        cli.screen.out(listText(cli, data, list));
        if (read.length > limit) cli.screen.note(moreText(cli, limit));
      }),
    );
}

const LIST: List<InboxItem> = {
  none: 'Nothing waits for a person.',
  columns: [
    { title: 'CALL', cell: ({ tool_call_id }) => tool_call_id, isId: true },
    { title: 'KIND', cell: ({ kind }) => kind, spare: 4 },
    { title: 'AGE', cell: ({ requested_at }) => ago(requested_at), right: true },
    { title: 'WORKER', cell: ({ worker_name }) => worker_name },
    { title: 'CONTEXT', cell: ({ context_id }) => context_id, isId: true, spare: 2 },
    { title: 'TASK', cell: ({ input_text }) => oneLine(input_text ?? ''), most: 40, spare: 1 },
    { title: 'ASKS', cell: asksOf },
  ],
};

/** The question, or the call that may run. */
function asksOf(item: InboxItem): string {
  return questionOf(item)?.question ?? `${item.name} ${JSON.stringify(item.input)}`;
}
