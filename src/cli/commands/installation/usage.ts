/** `usage`: the limits of the tenant, and what it uses of each. */
import type { Command } from 'commander';
import type { TenantUsage } from '../../../client/index.ts';
import { given } from '../../values.ts';
import { apiCommand, carryOut, print, type Cli, type Common } from '../../cli.ts';
import { listText, type List } from '../../list.ts';

type Settings = Common & { tenant?: string };

export function usageCommand(cli: Cli): Command {
  return apiCommand('usage', 'show the limits of your tenant, and what it uses of each', [
    'nightshift usage',
    'nightshift usage --tenant acme   (with the admin key)',
  ])
    .option('--tenant <name>', 'for the operator: this tenant')
    .action((options: Settings) =>
      carryOut(cli, options, async (client) => {
        const { tenant } = options;
        const usage = await client.usage(given({ tenant }));
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
