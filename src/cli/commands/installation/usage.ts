/** `usage`: the limits of the tenant, and what it uses of each. */
import type { Command } from 'commander';
import type { TenantUsage } from '../../../client/index.ts';
import { apiCommand, carryOut, listText, print, type Cli, type Common, type List } from '../../cli.ts';

export function usageCommand(cli: Cli): Command {
  return apiCommand('usage', 'show the limits of your tenant, and what it uses of each', [
    'nightshift usage',
    'nightshift usage --json',
  ]).action((options: Common) =>
    carryOut(cli, options, async (client) => {
      const usage = await client.usage();
      const rows = Object.entries(usage.limits).map(([name, of]) => ({ name, ...of }));
      print(cli, options, usage, listText(cli, rows, LIST));
    }),
  );
}

type Row = { name: string } & TenantUsage['limits'][keyof TenantUsage['limits']];

const LIST: List<Row> = {
  none: 'No limits.',
  columns: [
    { title: 'NAME', cell: ({ name }) => name },
    { title: 'USED', cell: ({ used }) => (used === null ? '-' : String(used)) },
    { title: 'LIMIT', cell: ({ limit }) => (limit === null ? 'none' : String(limit)) },
  ],
};
