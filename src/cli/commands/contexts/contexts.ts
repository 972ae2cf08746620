/** `contexts`: lists contexts. */
import type { Command } from 'commander';
import type { Context } from '../../../client/index.ts';
import { apiCommand, carryOut, type Cli, type Common } from '../../cli.ts';
import { pageSize, printList, type List } from '../../list.ts';
import { ago, money, tokensOf } from '../../terminal/time.ts';
import { given, wholeNumber } from '../../values.ts';

type Options = Common & { archived?: true; find?: string; user?: string; limit: number };

export function contextsCommand(cli: Cli): Command {
  return apiCommand('contexts', 'list contexts', [
    'nightshift contexts -n 50',
    'nightshift contexts --find invoice --json',
  ])
    .option('--archived', 'list archived contexts instead')
    .option('--find <text>', 'contexts whose title, worker, id or job metadata contain the text')
    .option('-u, --user <name>', 'only contexts of this end user')
    .option('-n, --limit <n>', 'maximum number of rows', wholeNumber(1, 100_000), 20)
    .action((options: Options) =>
      carryOut(cli, options, async (client) => {
        const { archived, find, user, limit } = options;
        const query = { limit: pageSize(limit), ...given({ archived, q: find, user }) };
        const filtered = archived !== undefined || find !== undefined || user !== undefined;
        await printList(cli, options, client.contexts.list(query), { ...LIST, filtered });
      }),
    );
}

const LIST: List<Context> = {
  none: 'No contexts.',
  columns: [
    { title: 'CONTEXT', cell: ({ id }) => id, isId: true },
    {
      title: 'STATE',
      cell: ({ state }) => state,
      ink: ({ state }, text, ink) => (state === 'Idle' ? ink('dim', text) : text),
    },
    { title: 'BRANCH', cell: ({ active_branch }) => active_branch, spare: 3 },
    { title: 'TURNS', cell: ({ turn_count }) => String(turn_count), right: true, spare: 4 },
    { title: 'TOKENS', cell: ({ usage }) => String(tokensOf(usage)), right: true, spare: 2 },
    { title: 'COST', cell: ({ usage }) => money(usage.cost), right: true, spare: 5 },
    { title: 'AGE', cell: ({ created_at }) => ago(created_at), right: true, spare: 1 },
    { title: 'TITLE', cell: ({ title, worker_name }) => title ?? worker_name },
  ],
};
