/** `roles`: lists roles. Subcommands act on one role. */
import type { Command } from 'commander';
import type { Role } from '../../../client/index.ts';
import { apiCommand, carryOut, print, withBelow, type Cli, type Common } from '../../cli.ts';
import { listText, type List } from '../../list.ts';
import { deleteRoleCommand, putRoleCommand, roleVersionsCommand, showRoleCommand } from './role-actions.ts';

export function rolesCommand(cli: Cli): Command {
  const command = apiCommand('roles', 'list the roles of the API and of the config file; show, define or delete one', [
    'nightshift roles',
    'nightshift roles show support > support.json',
    'nightshift roles put support support.json',
  ]);
  return withBelow(command, [
    showRoleCommand(cli),
    roleVersionsCommand(cli),
    putRoleCommand(cli),
    deleteRoleCommand(cli),
  ]).action((options: Common) =>
    carryOut(cli, options, async (client) => {
      const data = await client.roles.list({ limit: 200 }).all();
      print(cli, options, { data }, listText(cli, data, LIST));
    }),
  );
}

const LIST: List<Role> = {
  none: 'No roles.',
  columns: [
    { title: 'ROLE', cell: ({ name }) => name },
    { title: 'FROM', spare: 1, cell: ({ source, version }) => (version === null ? source : `${source} v${version}`) },
    { title: 'MODEL', cell: ({ model }) => model ?? '–' },
    {
      title: 'TOOLS',
      spare: 2,
      cell: ({ tools = [], mcp_servers = [] }) =>
        [...tools, ...mcp_servers.map((one) => `${one}__*`)].join(', ') || '–',
    },
    { title: 'PROMPT', cell: ({ system_prompt }) => system_prompt ?? '–' },
  ],
};
