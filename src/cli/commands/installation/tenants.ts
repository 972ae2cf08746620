/** `tenants`: lists the tenants of the installation. Subcommands make, suspend, resume and delete one. For the operator. */
import type { Command } from 'commander';
import type { PatchTenant, Tenant } from '../../../client/index.ts';
import { apiCommand, carryOut, print, withBelow, type Cli, type Common } from '../../cli.ts';
import { listText, type List } from '../../list.ts';
import { CommandError, EXIT } from '../../exit.ts';
import { oneLine } from '../../terminal/safe.ts';
import { decimal, gathered, given } from '../../values.ts';

const ALL_SCOPES = 'read,run,configure,approve,keys';

export function tenantsCommand(cli: Cli): Command {
  const command = apiCommand('tenants', 'list the tenants; create, change, suspend or delete one (operator)', [
    'nightshift tenants',
    'nightshift tenants create acme --weight 2',
  ]);
  return withBelow(command, [
    createTenantCommand(cli),
    setTenantCommand(cli),
    suspendTenantCommand(cli),
    resumeTenantCommand(cli),
    deleteTenantCommand(cli),
  ]).action((options: Common) =>
    carryOut(cli, options, async (client) => {
      const data = await client.tenants.list({ limit: 200 }).all();
      print(cli, options, { data }, listText(cli, data, LIST));
    }),
  );
}

type Settings = Common & {
  weight?: number;
  limit?: string[];
  tool?: string[];
  role?: string[];
  mcpServer?: string[];
  model?: string[];
};

/** `any` alone allows everything again. */
function settings({ weight, limit, tool, role, mcpServer, model }: Settings): Pick<PatchTenant, 'limits' | 'allow'> {
  const listOf = (names: string[] | undefined) => (names?.length === 1 && names[0] === 'any' ? null : names);
  const allow = given({
    tools: listOf(tool),
    roles: listOf(role),
    mcp_servers: listOf(mcpServer),
    models: listOf(model),
  });
  return {
    ...((weight !== undefined || limit !== undefined) && { limits: { ...given({ weight }), ...limitsIn(limit) } }),
    ...(Object.keys(allow).length > 0 && { allow }),
  };
}

/** `slots=10,workers=none`. The API checks names and values. */
function limitsIn(texts: readonly string[] = []): Record<string, number | null> {
  return Object.fromEntries(
    texts.map((text) => {
      const [, name, value] = /^([a-z_]+)=(none|[0-9]+)$/.exec(text) ?? [];
      if (name === undefined || value === undefined)
        throw new CommandError(
          EXIT.usage,
          `Invalid --limit ${oneLine(text)}. Write <name>=<number> or <name>=none, such as slots=10.`,
        );
      return [name, value === 'none' ? null : Number(value)];
    }),
  );
}

function withSettings(command: Command): Command {
  return command
    .option('--weight <number>', 'its share of the slots while several tenants have work (1)', decimal(0.01, 100))
    .option('--limit <name=number>', 'a limit, such as slots=10; none removes its own limit; may be repeated', gathered)
    .option(
      '--tool <names>',
      'allow only these tools; * stands for any characters; any: all; may be repeated',
      gathered,
    )
    .option('--role <names>', 'allow only these roles; any: all', gathered)
    .option('--mcp-server <names>', 'allow only these MCP servers; any: all', gathered)
    .option('--model <names>', 'allow only these models, as anthropic/*; any: all', gathered);
}

function createTenantCommand(cli: Cli): Command {
  const command = apiCommand('create', 'create a tenant', [
    'nightshift tenants create acme',
    'nightshift tenants create acme --weight 0.5 --model "anthropic/*"',
  ]).argument('<name>', 'its name, which cannot be changed');
  return withSettings(command).action((name: string, { json, url, profile, ...options }: Settings) =>
    carryOut(cli, given({ url, profile }), async (client) => {
      const made = await client.tenants.create({ name, ...settings(options) });
      print(cli, given({ json }), made, `The tenant ${oneLine(name)} is created.\n`);
      cli.screen.note(
        `Make its first key: nightshift keys create first --tenant ${oneLine(name)} --scope ${ALL_SCOPES}`,
      );
    }),
  );
}

function setTenantCommand(cli: Cli): Command {
  const command = apiCommand('set', 'change the limits of a tenant, or what its workers may use', [
    'nightshift tenants set acme --weight 2 --limit slots=10,queued_jobs=1000',
    'nightshift tenants set acme --tool web_search,http_fetch --model any',
  ]).argument('<name>', 'the tenant');
  return withSettings(command).action((name: string, { json, url, profile, ...options }: Settings) =>
    carryOut(cli, given({ url, profile }), async (client) => {
      const change = settings(options);
      if (Object.keys(change).length === 0)
        throw new CommandError(
          EXIT.usage,
          'Give at least one of --weight, --limit, --tool, --role, --mcp-server and --model.',
        );
      const changed = await client.tenants.update(name, change);
      print(cli, given({ json }), changed, listText(cli, [changed], LIST));
    }),
  );
}

function suspendTenantCommand(cli: Cli): Command {
  return apiCommand('suspend', 'refuse all requests of a tenant, and let nothing of it run', [
    'nightshift tenants suspend acme',
  ])
    .argument('<name>', 'the tenant')
    .action((name: string, options: Common) =>
      carryOut(cli, options, async (client) => {
        const changed = await client.tenants.update(name, { status: 'suspended' });
        print(cli, options, changed, `The tenant ${oneLine(name)} is suspended. Nothing is lost.\n`);
      }),
    );
}

function resumeTenantCommand(cli: Cli): Command {
  return apiCommand('resume', 'let a suspended tenant go on', ['nightshift tenants resume acme'])
    .argument('<name>', 'the tenant')
    .action((name: string, options: Common) =>
      carryOut(cli, options, async (client) => {
        const changed = await client.tenants.update(name, { status: 'active' });
        print(cli, options, changed, `The tenant ${oneLine(name)} is active.\n`);
      }),
    );
}

function deleteTenantCommand(cli: Cli): Command {
  return apiCommand('delete', 'delete a tenant with all its data, for good', ['nightshift tenants delete acme --yes'])
    .argument('<name>', 'the tenant')
    .requiredOption('--yes', 'confirm it: all its data is deleted, and cannot be restored')
    .action((name: string, options: Common) =>
      carryOut(cli, options, async (client) => {
        const changed = await client.tenants.delete(name);
        print(cli, options, changed, `The tenant ${oneLine(name)} is being deleted.\n`);
      }),
    );
}

const LIST: List<Tenant> = {
  none: 'No tenants.',
  columns: [
    { title: 'NAME', cell: ({ name }) => name },
    { title: 'STATUS', cell: ({ status }) => status },
    { title: 'WEIGHT', cell: ({ limits }) => String(limits.weight), spare: 1 },
    { title: 'LIMITS', cell: limitsText },
    { title: 'ALLOWED', cell: allowedText },
    { title: 'CREATED', cell: ({ created_at }) => created_at, spare: 2 },
  ],
};

function limitsText({ limits }: Tenant): string {
  const set = Object.entries(limits).flatMap(([name, value]) =>
    value === null || name === 'weight' ? [] : [`${name}=${value}`],
  );
  return set.length === 0 ? '-' : set.join(' ');
}

function allowedText({ allow }: Tenant): string {
  const lists = Object.entries(allow).flatMap(([kind, names]) =>
    names === null ? [] : [`${kind}: ${names.join(' ')}`],
  );
  return lists.length === 0 ? 'everything' : lists.join('; ');
}
