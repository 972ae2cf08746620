/** `grants`: lists the approvals in advance of a context, and takes them back. */
import type { Command } from 'commander';
import type { Grant } from '../../../client/index.ts';
import { apiCommand, carryOut, print, withBelow, type Cli, type Common } from '../../cli.ts';
import { findContextId } from '../../find/find.ts';
import { listText, type List } from '../../list.ts';
import { oneLine } from '../../terminal/safe.ts';

export function grantsCommand(cli: Cli): Command {
  const command = apiCommand('grants', 'list the tools whose calls run without approval in a context; remove one', [
    'nightshift grants 0199…',
    'nightshift grants remove 0199… send_mail',
  ]).argument('<context>', 'id of the context');
  return withBelow(command, [removeGrantCommand(cli)]).action((named: string, options: Common) =>
    carryOut(cli, options, async (client) => {
      const { data } = await client.contexts.grants.list(await findContextId(client, named));
      print(cli, options, { data }, listText(cli, data, LIST));
    }),
  );
}

function removeGrantCommand(cli: Cli): Command {
  return apiCommand('remove', 'let later calls of a tool need approval again', [
    'nightshift grants remove 0199… send_mail',
  ])
    .argument('<context>', 'id of the context')
    .argument('<tool>', 'name of the tool')
    .action((named: string, tool: string, options: Common) =>
      carryOut(cli, options, async (client) => {
        await client.contexts.grants.remove(await findContextId(client, named), tool);
        print(cli, options, { tool }, `Calls of ${oneLine(tool)} need approval again.\n`);
      }),
    );
}

function decidedBy({ actor: { kind, id, user, on_behalf_of: named } }: Grant): string {
  const person = user ?? named;
  const credential = id === null ? kind : `${kind} ${id}`;
  return person === null ? credential : `${person} (${credential})`;
}

const LIST: List<Grant> = {
  none: 'No grants.',
  columns: [
    { title: 'TOOL', cell: ({ tool }) => tool },
    { title: 'DECIDED BY', cell: decidedBy },
    { title: 'SINCE', cell: ({ created_at }) => created_at, spare: 1 },
    { title: 'EXPIRES', cell: ({ expires_at }) => expires_at },
  ],
};
