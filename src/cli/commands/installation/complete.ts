/** `complete`: lists names and ids for completion scripts. It never fails: a shell that completes shows no errors. */
import { Argument, type Command } from 'commander';
import { createClient, type Client } from '../../../client/index.ts';
import { apiCommand, type Cli, type Common } from '../../cli.ts';
import { COMPLETE } from '../../completion/completion-commands.ts';
import { LIVE_NAMES, type LiveName } from '../../completion/live-names.ts';
import { shortIds } from '../../find/ids.ts';
import { connectionOf } from '../../profiles/connection.ts';
import { readProfiles } from '../../profiles/profiles.ts';

const TIMEOUT_MS = 1_000;
/** Names at most: one page. */
const MOST = 50;

export function completeCommand(cli: Cli): Command {
  return apiCommand(COMPLETE, 'list names and ids, for completion scripts', ['nightshift complete workers'], {
    json: false,
  })
    .addArgument(new Argument('<kind>', 'what to list').choices([...LIVE_NAMES]))
    .action(async (kind: LiveName, options: Common) => {
      const words = await wordsOf(cli, kind, options).catch(() => []);
      const plain = [...new Set(words)].filter((word) => PLAIN.test(word));
      cli.screen.out(plain.map((word) => `${word}\n`).join(''));
    });
}

/** What a shell takes as one word without quotes. */
const PLAIN = /^[\w][\w.@+-]*$/;

async function wordsOf(cli: Cli, kind: LiveName, options: Common): Promise<readonly string[]> {
  if (kind === 'profiles') return [...(await readProfiles(cli.env)).keys()];
  const { url, key } = await connectionOf(cli.env, options);
  const access = key === null ? {} : { apiKey: key };
  return namesOf(createClient({ url, retries: 0, timeoutMs: TIMEOUT_MS, ...access }), kind);
}

async function namesOf(client: Client, kind: Exclude<LiveName, 'profiles'>): Promise<readonly string[]> {
  const page = { limit: MOST };
  switch (kind) {
    case 'workers':
      return (await client.workers.list(page).page()).data.map(({ name }) => name);
    case 'roles':
      return (await client.roles.list(page).page()).data.map(({ name }) => name);
    case 'schedules':
      return (await client.schedules.list(page).page()).data.map(({ name }) => name);
    case 'jobs':
      return shortIds((await client.jobs.list(page).page()).data.map(({ id }) => id));
    case 'contexts':
      return shortIds((await client.contexts.list(page).page()).data.map(({ id }) => id));
    case 'calls':
      return shortIds((await client.approvals.list(page).page()).data.map(({ tool_call_id }) => tool_call_id));
    case 'keys':
      return shortIds((await client.keys.list(page).page()).data.map(({ id }) => id));
    case 'processes':
      return shortIds((await client.processes.list({ ...page, live: true }).page()).data.map(({ id }) => id));
    case 'webhooks':
      return shortIds((await client.webhooks.list(page).page()).data.map(({ id }) => id));
    case 'places':
      return (await Promise.all([namesOf(client, 'workers'), namesOf(client, 'jobs')])).flat();
  }
}
