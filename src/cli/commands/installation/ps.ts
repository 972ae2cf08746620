/** `ps`: lists the worker processes of the installation, and how many runs each has. For the operator. */
import type { Command } from 'commander';
import type { System } from '../../../client/index.ts';
import { apiCommand, carryOut, print, type Cli, type Common } from '../../cli.ts';
import { CommandError, EXIT } from '../../exit.ts';
import { listText, type List } from '../../list.ts';
import { ago } from '../../terminal/time.ts';

type Process = NonNullable<System['processes']>[number];

export function psCommand(cli: Cli): Command {
  return apiCommand('ps', 'list worker processes and how busy they are (operator)', [
    'nightshift ps',
    "nightshift ps --json | jq '.data[] | {host, running}'",
  ]).action((options: Common) =>
    carryOut(cli, options, async (client) => {
      const { processes: data } = await client.system.get();
      if (data === null)
        throw new CommandError(
          EXIT.failed,
          'Only the operator sees worker processes. Set NIGHTSHIFT_API_KEY to the admin key, or run nightshift login with it.',
        );
      print(cli, options, { data }, listText(cli, data, LIST));
    }),
  );
}

const LIST: List<Process> = {
  none: 'No worker process is alive: jobs wait. Start one with nightshift worker.',
  columns: [
    { title: 'HOST', cell: ({ host }) => host },
    { title: 'PID', cell: ({ pid }) => String(pid), right: true },
    { title: 'RUNNING', cell: ({ running, concurrency }) => `${running ?? '–'} of ${concurrency ?? '–'}`, right: true },
    { title: 'UP', cell: ({ started_at }) => ago(started_at), right: true },
    { title: 'SEEN', cell: ({ heartbeat_at }) => `${ago(heartbeat_at)} ago`, right: true, spare: 2 },
    { title: 'VERSION', cell: ({ version }) => version, spare: 3 },
    { title: 'PROCESS', cell: ({ id }) => id, spare: 4 },
    { title: 'SERVES', cell: ({ providers, mcp_servers }) => [...providers, ...mcp_servers].join(' '), spare: 1 },
  ],
};
