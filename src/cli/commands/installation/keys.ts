/** `keys`: lists the API keys of the tenant. Subcommands make, rotate and revoke one. */
import type { Command } from 'commander';
import type { ApiKey, Client, CreateApiKey, CreatedApiKey } from '../../../client/index.ts';
import { apiCommand, carryOut, print, withBelow, type Cli, type Common } from '../../cli.ts';
import { listText, type List } from '../../list.ts';
import { PAGE, pickId, type Kind } from '../../find/pick.ts';
import { oneLine } from '../../terminal/safe.ts';
import { duration, given, instant, someOf, wholeNumber } from '../../values.ts';

type Scope = CreateApiKey['scopes'][number];

const SCOPES: readonly Scope[] = ['read', 'run', 'configure', 'approve', 'keys'];

export function keysCommand(cli: Cli): Command {
  const command = apiCommand('keys', 'list the API keys of the tenant; create, rotate or revoke one', [
    'nightshift keys',
    'nightshift keys create dashboard --scope read',
  ]);
  return withBelow(command, [createKeyCommand(cli), rotateKeyCommand(cli), revokeKeyCommand(cli)]).action(
    (options: Common) =>
      carryOut(cli, options, async (client) => {
        const data = await client.keys.list({ limit: 200 }).all();
        print(cli, options, { data }, listText(cli, data, LIST));
      }),
  );
}

/** The largest limit. */
const MOST = 100_000;

type Create = Common & {
  scope?: Scope[];
  expires?: string;
  requestsPerS?: number;
  concurrentRequests?: number;
  tenant?: string;
};

function createKeyCommand(cli: Cli): Command {
  return apiCommand('create', 'create an API key and print it; it cannot be shown again', [
    'nightshift keys create dashboard --scope read',
    'nightshift keys create ci --scope read,run --expires 90d > key.txt',
    'nightshift keys create partner --scope run --requests-per-s 20',
    'nightshift keys create first --tenant acme --scope read,run,configure,approve,keys   # with the admin key',
  ])
    .argument('<name>', 'what the key is for')
    .requiredOption('-s, --scope <scopes>', 'read, run, configure, approve, keys; may be repeated', someOf(SCOPES))
    .option('--expires <time>', 'a timestamp, or a time from now', instant(1))
    .option('--requests-per-s <n>', 'requests in a second, refused ones too', wholeNumber(1, MOST))
    .option('--concurrent-requests <n>', 'requests that one API process serves at once', wholeNumber(1, MOST))
    .option('--tenant <name>', 'with the admin key: the tenant whose first key this is')
    .action((name: string, { scope = [], expires, requestsPerS, concurrentRequests, tenant, ...common }: Create) =>
      carryOut(cli, common, async (client) => {
        const { auth } = await client.session.get();
        const limits = given({ requests_per_s: requestsPerS, concurrent_requests: concurrentRequests });
        const made = await client.keys.create({
          name,
          scopes: scope,
          limits,
          ...given({ expires_at: expires, tenant }),
        });
        printKey(cli, common, made);
        if (auth === 'none')
          cli.screen.note('From now on, every request needs a key. Set NIGHTSHIFT_API_KEY to this one.');
      }),
    );
}

function rotateKeyCommand(cli: Cli): Command {
  return apiCommand('rotate', 'create a key in place of another one, which stays valid for a while', [
    'nightshift keys rotate 0199… > key.txt',
    'nightshift keys rotate 0199… --overlap 1h',
  ])
    .argument('<id>', 'id of the key')
    .option('--overlap <time>', 'how long the old key stays valid (1d)', duration)
    .action((named: string, { overlap, ...common }: Common & { overlap?: number }) =>
      carryOut(cli, common, async (client) => {
        const seconds = overlap === undefined ? undefined : Math.ceil(overlap / 1_000);
        const id = await pickId(named, keysOf(client));
        printKey(cli, common, await client.keys.rotate(id, given({ overlap_s: seconds })));
      }),
    );
}

function revokeKeyCommand(cli: Cli): Command {
  return apiCommand('revoke', 'end an API key, its sessions and its event streams', ['nightshift keys revoke 0199…'])
    .argument('<id>', 'id of the key')
    .action((named: string, options: Common) =>
      carryOut(cli, options, async (client) => {
        const id = await pickId(named, keysOf(client));
        await client.keys.revoke(id);
        print(cli, options, { id }, `${oneLine(id)} is revoked.\n`);
      }),
    );
}

/** The key alone on stdout, so that it can be written to a file. */
function printKey(cli: Cli, options: Common, made: CreatedApiKey): void {
  print(cli, options, made, `${made.key}\n`);
  const { id, name } = made;
  cli.screen.note(cli.screen.sideInk('dim', `${oneLine(name)}, ${id}. The key is not shown again.`));
}

function keysOf(client: Client): Kind<ApiKey> {
  return {
    one: 'key',
    where: 'the newest 1,000 keys',
    lists: '`nightshift keys --json`',
    rows: () => client.keys.list({ limit: PAGE }),
    idOf: ({ id }) => id,
    about: (key) => `${oneLine(key.name)}, ${stateOf(key)}`,
  };
}

function stateOf({ revoked_at, expires_at }: ApiKey): string {
  if (revoked_at !== null) return 'revoked';
  return expires_at !== null && Date.parse(expires_at) <= Date.now() ? 'expired' : 'valid';
}

function limitsText({ limits }: ApiKey): string {
  const { requests_per_s: perSecond, concurrent_requests: atOnce } = limits;
  const texts = [...(perSecond === null ? [] : [`${perSecond}/s`]), ...(atOnce === null ? [] : [`${atOnce} at once`])];
  return texts.length === 0 ? '–' : texts.join(', ');
}

const LIST: List<ApiKey> = {
  none: 'No keys that the API made.',
  columns: [
    { title: 'ID', cell: ({ id }) => id, isId: true },
    { title: 'NAME', cell: ({ name }) => name },
    { title: 'SCOPES', cell: ({ scopes }) => scopes.join(' ') },
    { title: 'LIMITS', cell: limitsText, spare: 3 },
    { title: 'LAST USED', cell: ({ last_used_at }) => last_used_at ?? '–', spare: 1 },
    { title: 'EXPIRES', cell: ({ expires_at }) => expires_at ?? '–', spare: 2 },
    { title: 'STATE', cell: stateOf },
  ],
};
