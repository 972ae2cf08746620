/** `login`, `logout` and `profiles`: stored addresses and keys, so that the environment need not have them. */
import { text } from 'node:stream/consumers';
import { Command } from 'commander';
import { apiCommand, clientOf, examplesText, print, type Cli, type Common } from '../../cli.ts';
import { CommandError, EXIT } from '../../exit.ts';
import { listText, type List } from '../../list.ts';
import { DEFAULT_URL, connectionOf } from '../../profiles/connection.ts';
import { DEFAULT_PROFILE, profileName, readProfiles, writeProfiles, type Profile } from '../../profiles/profiles.ts';
import { askLine } from '../../terminal/ask-line.ts';
import { askSecret } from '../../terminal/ask-secret.ts';
import { oneLine } from '../../terminal/safe.ts';

type Options = Omit<Common, 'json'>;

export function loginCommand(cli: Cli): Command {
  return apiCommand(
    'login',
    'store the address and the key of an API in a profile; asks for them and checks them',
    [
      'nightshift login',
      'nightshift login --profile production --url https://nightshift.example.com',
      'nightshift login --url http://127.0.0.1:3000 < key.txt',
    ],
    { json: false },
  ).action(async (options: Options) => {
    const name = profileName(nameOf(cli, options));
    const profiles = await readProfiles(cli.env);
    const { screen } = cli;
    const usual = profiles.get(name)?.url ?? (cli.env['NIGHTSHIFT_URL'] || DEFAULT_URL);
    const url = options.url ?? (await askUrl(cli, usual));
    const { url: valid } = await connectionOf(cli.env, { url });
    cli.url = valid;
    const typed = screen.canAsk ? await askSecret('Key (empty if the API needs none): ') : await text(cli.input);
    if (typed === null) throw new CommandError(EXIT.usage, 'No key was given.');
    const profile: Profile = { url: valid, key: typed.trim() || null };
    const who = await check(profile);
    // Read again: another login may have stored its profile while this one asked for its key.
    const file = await writeProfiles(cli.env, new Map([...(await readProfiles(cli.env)), [name, profile]]));
    screen.note(`Signed in to ${valid} ${who}. Stored as the profile ${name} in ${file}.`);
    for (const one of ['NIGHTSHIFT_URL', 'NIGHTSHIFT_API_KEY'])
      if (cli.env[one] && name === DEFAULT_PROFILE) screen.note(`${one} is set and overrides the profile ${name}.`);
  });
}

function nameOf({ env }: Cli, { profile }: Options): string {
  return profile ?? (env['NIGHTSHIFT_PROFILE'] || DEFAULT_PROFILE);
}

async function askUrl({ screen }: Cli, usual: string): Promise<string> {
  if (!screen.canAsk) throw new CommandError(EXIT.usage, 'Not a terminal: pass --url, and the key on standard input.');
  const line = await askLine(`URL of the API [${oneLine(usual)}]: `);
  if (line === null) throw new CommandError(EXIT.usage, 'No URL was given.');
  return line.trim() || usual;
}

/** Throws if the API does not answer or refuses the key. Returns what the key may do. */
async function check(profile: Profile): Promise<string> {
  const { auth, signed_in, scopes, tenant } = await clientOf(profile).session.get();
  if (!signed_in)
    throw new CommandError(EXIT.unavailable, `The API at ${profile.url} needs a key. Nothing was stored.`);
  if (auth === 'none') return 'which needs no key';
  return `as ${tenant === null ? 'the operator' : `the tenant ${tenant}`} (${scopes.join(', ')})`;
}

export function logoutCommand(cli: Cli): Command {
  return new Command('logout')
    .description('delete a profile with its key from this machine; the key stays valid')
    .option('--profile <name>', 'the profile (default: NIGHTSHIFT_PROFILE, or default)')
    .addHelpText('after', examplesText(['nightshift logout', 'nightshift logout --profile production']))
    .action(async (options: Options) => {
      const name = nameOf(cli, options);
      const profiles = new Map(await readProfiles(cli.env));
      const profile = profiles.get(name);
      if (profile === undefined) throw new CommandError(EXIT.failed, `No profile is named ${name}.`);
      profiles.delete(name);
      await writeProfiles(cli.env, profiles);
      const ofKey = profile.key === null ? '' : ' Its key stays valid until you revoke it: nightshift keys revoke <id>';
      cli.screen.note(`The profile ${name} is deleted.${ofKey}`);
    });
}

type Row = { name: string; url: string; has_key: boolean; used: boolean };

export function profilesCommand(cli: Cli): Command {
  return apiCommand('profiles', 'list the profiles, and which one is used', [
    'nightshift profiles',
    'NIGHTSHIFT_PROFILE=production nightshift status',
  ]).action(async (options: Common) => {
    const { source } = await connectionOf(cli.env, options);
    const profiles = await readProfiles(cli.env);
    const data = [...profiles].map(([name, { url, key }]) => ({
      name,
      url,
      has_key: key !== null,
      used: source === `the profile ${name}`,
    }));
    print(cli, options, { data }, listText(cli, data, LIST));
  });
}

const LIST: List<Row> = {
  none: 'No profiles. Make one with nightshift login.',
  columns: [
    { title: 'PROFILE', cell: ({ name }) => name },
    { title: 'USED', cell: ({ used }) => (used ? 'yes' : '') },
    { title: 'KEY', cell: ({ has_key }) => (has_key ? 'yes' : 'none') },
    { title: 'URL', cell: ({ url }) => url },
  ],
};
