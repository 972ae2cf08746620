/** `tree`: shows a worker and its descendants. */
import type { Command } from 'commander';
import type { WorkerTree, WorkerTreeNode } from '../../../client/index.ts';
import { apiCommand, carryOut, type Cli, type Common } from '../../cli.ts';
import { findWorker } from '../../find/find.ts';
import { lookOf } from '../../terminal/ink.ts';
import { oneLine } from '../../terminal/safe.ts';
import { table, type Column } from '../../terminal/table.ts';
import { money, tokensOf } from '../../terminal/time.ts';
import { given, wholeNumber } from '../../values.ts';

type Options = Common & { limit?: number };
type Branch = { stem: string; node: Omit<WorkerTreeNode, 'children'> };

export function treeCommand(cli: Cli): Command {
  return apiCommand('tree', 'show a worker and its descendants: state, tokens, cost', [
    'nightshift tree ada',
    "nightshift tree 0199… --json | jq '.. | .name? // empty'",
  ])
    .argument('<worker>', 'id or name of the worker')
    .option('-n, --limit <n>', 'maximum number of workers; the deepest are left out', wholeNumber(1, 1_000))
    .action((named: string, options: Options) =>
      carryOut(cli, options, async (client) => {
        const { id } = await findWorker(client, named);
        const tree = await client.workers.tree(id, given({ limit: options.limit }));
        if (options.json === true) return cli.screen.json(tree);
        cli.screen.out(format(cli, tree));
        if (tree.truncated) cli.screen.note('Some workers are not shown. Raise --limit to show more.');
      }),
    );
}

function format({ screen }: Cli, tree: WorkerTree): string {
  return table(COLUMNS, [{ stem: '', node: tree }, ...below(tree.children, '')], {
    ink: screen.ink,
    screen: screen.columns,
  });
}

function below(children: readonly WorkerTreeNode[], indent: string): Branch[] {
  return children.flatMap((node, at) => {
    const isLast = at === children.length - 1;
    const self = { stem: `${indent}${isLast ? '└─' : '├─'} `, node };
    return [self, ...below(node.children, `${indent}${isLast ? '   ' : '│  '}`)];
  });
}

const COLUMNS: readonly Column<Branch>[] = [
  { title: 'WORKER', cell: ({ stem, node }) => stem + oneLine(node.name), isLine: true },
  {
    title: 'STATE',
    cell: ({ node }) => (node.detached ? `${node.state}, detached` : node.state),
    ink: ({ node }, text, ink) => ink(lookOf(node.state), text),
  },
  { title: 'JOB', cell: ({ node }) => node.job?.status ?? '–', spare: 3 },
  { title: 'TOKENS', cell: ({ node }) => String(tokensOf(node.usage)), right: true, spare: 1 },
  { title: 'COST', cell: ({ node }) => money(node.usage.cost), right: true, spare: 2 },
  { title: 'ID', cell: ({ node }) => node.id, isId: true },
];
