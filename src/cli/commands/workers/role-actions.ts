/** Subcommands of `roles`: show, put and delete one role, and list its versions. */
import type { Command } from 'commander';
import type { Role, RoleDefinition, RoleVersion } from '../../../client/index.ts';
import { apiCommand, carryOut, print, type Cli, type Common } from '../../cli.ts';
import { pageSize, printList, type List } from '../../list.ts';
import { readJson } from '../../read-task.ts';
import { oneLine } from '../../terminal/safe.ts';
import { given, wholeNumber } from '../../values.ts';

const LAST_VERSION = 2_147_483_647;

export function showRoleCommand(cli: Cli): Command {
  return apiCommand('show', 'print the definition of a role, as JSON for `roles put`', [
    'nightshift roles show support > support.json',
    'nightshift roles show support --version 3',
  ])
    .argument('<role>', 'name of the role')
    .option('--version <n>', 'an earlier version', wholeNumber(1, LAST_VERSION))
    .action((name: string, options: Common & { version?: number }) =>
      carryOut(cli, options, async (client) => {
        const role = await client.roles.get(name, given({ version: options.version }));
        if (options.json === true) return cli.screen.json(role);
        cli.screen.json(definitionOf(role));
        cli.screen.note(cli.screen.sideInk('dim', `${titleOf(role)}, from ${role.updated_at ?? 'the config file'}`));
      }),
    );
}

export function roleVersionsCommand(cli: Cli): Command {
  return apiCommand('versions', 'list the versions of a role, newest first; also of a deleted one', [
    'nightshift roles versions support',
    'nightshift roles show support --version 3 | nightshift roles put support -',
  ])
    .argument('<role>', 'name of the role')
    .option('-n, --limit <n>', 'maximum number of versions', wholeNumber(1, 500), 20)
    .action((name: string, options: Common & { limit: number }) =>
      carryOut(cli, options, (client) =>
        printList(cli, options, client.roles.versions(name, { limit: pageSize(options.limit) }), VERSIONS),
      ),
    );
}

const VERSIONS: List<RoleVersion> = {
  none: 'No versions: the role is defined in the config file.',
  columns: [
    { title: 'VERSION', cell: ({ version }) => `v${version}` },
    { title: 'CREATED', cell: ({ created_at }) => created_at },
    { title: 'FIELDS', spare: 1, cell: ({ definition }) => fieldsOf(definition) },
  ],
};

function fieldsOf(definition: RoleDefinition | null): string {
  return definition === null ? 'deleted' : Object.keys(definition).join(', ') || '–';
}

export function putRoleCommand(cli: Cli): Command {
  return apiCommand('put', 'define a role from a file; a changed definition becomes a new version', [
    'nightshift roles put support support.json',
    'nightshift roles show support | jq \'.model = "simulated/x"\' | nightshift roles put support -',
  ])
    .argument('<role>', 'name of the role')
    .argument('<file>', 'JSON; - reads standard input')
    .action((name: string, file: string, options: Common) =>
      carryOut(cli, options, async (client) => {
        const role = await client.roles.put(name, await readJson<RoleDefinition>(cli.input, file));
        print(cli, options, role, `${titleOf(role)}\n`);
      }),
    );
}

export function deleteRoleCommand(cli: Cli): Command {
  return apiCommand('delete', 'delete a role; existing workers keep their version', ['nightshift roles delete support'])
    .argument('<role>', 'name of the role')
    .action((name: string, options: Common) =>
      carryOut(cli, options, async (client) => {
        const role = await client.roles.get(name);
        await client.roles.delete(name);
        print(cli, options, role, `${titleOf(role)} was deleted.\n`);
      }),
    );
}

function titleOf({ name, version }: Role): string {
  return version === null ? oneLine(name) : `${oneLine(name)} v${version}`;
}

/** The input of `put`. */
function definitionOf(role: Role): RoleDefinition {
  const { name: _, version: _version, source: _source, created_at: _made, updated_at: _changed, ...rest } = role;
  return rest;
}
