/** `tokens`: makes tokens of end users, for browsers, and revokes them. */
import type { Command } from 'commander';
import type { CreateToken, Json } from '../../../client/index.ts';
import { apiCommand, carryOut, print, withBelow, type Cli, type Common } from '../../cli.ts';
import { findContextId } from '../../find/find.ts';
import { oneLine } from '../../terminal/safe.ts';
import { duration, gathered, given, member, someOf } from '../../values.ts';

type Scope = CreateToken['scopes'][number];

const SCOPES: readonly Scope[] = ['read', 'run', 'approve'];
const HOUR_S = 3_600;

export function tokensCommand(cli: Cli): Command {
  const command = apiCommand('tokens', 'create a token of an end user, or revoke all of a user', [
    'nightshift tokens create alice --scope read,run',
  ]);
  return withBelow(command, [createTokenCommand(cli), revokeTokensCommand(cli)]);
}

type Create = Common & {
  scope?: Scope[];
  context?: string[];
  metadata?: { [key: string]: Json };
  expires?: number;
};

function createTokenCommand(cli: Cli): Command {
  return apiCommand('create', 'create a token of an end user, for a browser, and print it', [
    'nightshift tokens create alice --scope read,run',
    'nightshift tokens create alice --scope read --context 0199… --expires 10m',
  ])
    .argument('<user>', 'the end user, by the name that your own service uses')
    .requiredOption('-s, --scope <scopes>', 'read, run, approve; may be repeated', someOf(SCOPES))
    .option('--context <ids>', 'only this context, of any user; may be repeated', gathered)
    .option('--metadata <name=value>', 'metadata of its jobs; may be repeated', member)
    .option('--expires <time>', 'how long it is valid, at most a day (1h)', duration)
    .action((user: string, { scope = [], context, metadata, expires, ...common }: Create) =>
      carryOut(cli, common, async (client) => {
        const seconds = expires === undefined ? HOUR_S : Math.ceil(expires / 1_000);
        const ids =
          context === undefined ? undefined : await Promise.all(context.map((one) => findContextId(client, one)));
        const body = { user, scopes: scope, expires_in_s: seconds, ...given({ context_ids: ids, metadata }) };
        const made = await client.tokens.create(body);
        print(cli, common, made, `${made.token}\n`);
        cli.screen.note(cli.screen.sideInk('dim', `A token of ${oneLine(user)}, until ${made.expires_at}.`));
      }),
    );
}

function revokeTokensCommand(cli: Cli): Command {
  return apiCommand('revoke', 'end all tokens of a user, its sessions of OpenID Connect, and their event streams', [
    'nightshift tokens revoke alice',
    "nightshift tokens revoke 'https://login.example.com#248289'",
  ])
    .argument('<user>', 'the end user')
    .action((user: string, options: Common) =>
      carryOut(cli, options, async (client) => {
        await client.tokens.revoke(user);
        print(cli, options, { user }, `The tokens of ${oneLine(user)} are revoked.\n`);
      }),
    );
}
