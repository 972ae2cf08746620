/** One role, below `roles`: its definition as it is, written anew, or deleted. */
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import type { Role, RoleDefinition } from '../../client/index.ts';
import { apiCommand, carryOut } from '../cli.ts';
import type { Cli, Common } from '../cli.ts';
import { parseJsonOf, readText } from '../read-task.ts';
import { oneLine } from '../terminal/safe.ts';
import { wholeNumber } from '../values.ts';

const LAST_VERSION = 2_147_483_647;

export function showRoleCommand(cli: Cli): Command {
  return apiCommand('show', 'the definition of a role, as JSON that `roles put` takes', [
    'nightshift roles show support > support.json',
    'nightshift roles show support --version 3',
  ])
    .argument('<role>', 'its name')
    .option('--version <n>', 'as it was', wholeNumber(1, LAST_VERSION))
    .action((name: string, options: Common & { version?: number }) =>
      carryOut(cli, options, async (client) => {
        const { version } = options;
        const role = await client.roles.get(name, version === undefined ? {} : { version });
        if (options.json === true) return cli.screen.json(role);
        cli.screen.json(definitionOf(role));
        cli.screen.note(
          cli.screen.sideInk('dim', `${titleOf(role)}, of ${role.updated_at ?? 'the config file'}`),
        );
      }),
    );
}

export function putRoleCommand(cli: Cli): Command {
  return apiCommand('put', 'defines a role by a file: a new version, where that says something new', [
    'nightshift roles put support support.json',
    'nightshift roles show support | jq \'.model = "simulated/x"\' | nightshift roles put support -',
  ])
    .argument('<role>', 'its name')
    .argument('<file>', 'JSON; - reads standard input')
    .action((name: string, file: string, options: Common) =>
      carryOut(cli, options, async (client) => {
        const role = await client.roles.put(name, await readDefinition(file));
        if (options.json === true) cli.screen.json(role);
        else cli.screen.out(`${titleOf(role)}\n`);
      }),
    );
}

export function deleteRoleCommand(cli: Cli): Command {
  return apiCommand('delete', 'no worker is made from it any more; those that were keep their version', [
    'nightshift roles delete support',
  ])
    .argument('<role>', 'its name')
    .action((name: string, options: Common) =>
      carryOut(cli, options, async (client) => {
        const role = await client.roles.get(name);
        await client.roles.delete(name);
        if (options.json === true) cli.screen.json(role);
        else cli.screen.out(`${titleOf(role)} is deleted.\n`);
      }),
    );
}

function titleOf({ name, version }: Role): string {
  return version === null ? oneLine(name) : `${oneLine(name)} v${version}`;
}

/** What `put` takes. */
function definitionOf(role: Role): RoleDefinition {
  const {
    name: _,
    version: _version,
    source: _source,
    created_at: _made,
    updated_at: _changed,
    ...rest
  } = role;
  return rest;
}

/** Whether it defines a role, the API finds out. */
async function readDefinition(file: string): Promise<RoleDefinition> {
  return file === '-'
    ? parseJsonOf<RoleDefinition>(await text(process.stdin), 'Standard input')
    : parseJsonOf<RoleDefinition>(await readText(file), file);
}
