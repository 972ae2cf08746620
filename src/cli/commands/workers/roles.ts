/** `roles`: lists roles. Subcommands act on one role. */
import type { Command } from 'commander';
import type { Role } from '../../../client/index.ts';
import { apiCommand, carryOut, withBelow } from '../../cli.ts';
import type { Cli, Common } from '../../cli.ts';
import { table } from '../../terminal/table.ts';
import type { Column } from '../../terminal/table.ts';
import { deleteRoleCommand, putRoleCommand, showRoleCommand } from './role-actions.ts';

export function rolesCommand(cli: Cli): Command {
  const command = apiCommand(
    'roles',
    'list the roles of the API and of the config file; show, define or delete one',
    [
      'nightshift roles',
      'nightshift roles show support > support.json',
      'nightshift roles put support support.json',
    ],
  );
  return withBelow(command, [showRoleCommand(cli), putRoleCommand(cli), deleteRoleCommand(cli)]).action(
    (options: Common) =>
      carryOut(cli, options, async (client) => {
        const data = await client.roles.list({ limit: 200 }).all();
        if (options.json === true) return cli.screen.json({ data });
        const { ink, columns } = cli.screen;
        cli.screen.out(data.length === 0 ? 'No roles.\n' : table(COLUMNS, data, ink, columns));
      }),
  );
}

const COLUMNS: readonly Column<Role>[] = [
  { title: 'ROLE', cell: ({ name }) => name },
  { title: 'FROM', cell: ({ source, version }) => (version === null ? source : `${source} v${version}`) },
  { title: 'MODEL', cell: ({ model }) => model ?? '–' },
  {
    title: 'TOOLS',
    cell: ({ tools = [], mcp_servers = [] }) =>
      [...tools, ...mcp_servers.map((one) => `${one}__*`)].join(', ') || '–',
  },
  { title: 'PROMPT', cell: ({ system_prompt }) => system_prompt ?? '–' },
];
