/** What every command that talks to the API is given, and the shape they share. */
import { Command } from 'commander';
import { createClient } from '../client/index.ts';
import type { Client } from '../client/index.ts';
import { CommandError, EXIT } from './exit.ts';
import type { Exit } from './exit.ts';
import type { Screen } from './terminal/screen.ts';

export type Cli = {
  screen: Screen;
  env: Readonly<Record<string, string | undefined>>;
  /** Where the API is. */
  url: string;
  client(): Client;
  /** What the process ends with. */
  exit: Exit;
};

const DEFAULT_URL = 'http://127.0.0.1:3000';
/** A person waits: less often than a program repeats a request. */
const RETRIES = 2;

export function openCli(screen: Screen, env: Cli['env']): Cli {
  const cli: Cli = {
    screen,
    env,
    url: env['NIGHTSHIFT_URL'] || DEFAULT_URL,
    exit: EXIT.completed,
    client() {
      if (!['http:', 'https:'].includes(URL.parse(cli.url)?.protocol ?? ''))
        throw new CommandError(
          EXIT.usage,
          'NIGHTSHIFT_URL must be a URL that begins with http:// or https://.',
        );
      const apiKey = env['NIGHTSHIFT_API_KEY'] || undefined;
      return createClient({ url: cli.url, retries: RETRIES, ...(apiKey === undefined ? {} : { apiKey }) });
    },
  };
  return cli;
}

export type Common = { json?: true; url?: string };

/** One that talks to the API: `--url`, `--json` where it has any, examples below its help. */
export function apiCommand(
  name: string,
  summary: string,
  examples: readonly string[],
  { json = true } = {},
): Command {
  const command = new Command(name)
    .description(summary)
    .option('--url <url>', 'where the API is, in place of NIGHTSHIFT_URL')
    .addHelpText('after', examplesText(examples));
  return json ? command.option('--json', 'JSON on stdout, and nothing else there') : command;
}

/** Commands that stand behind its name. An option before theirs is theirs where they have it, and else refused. */
export function withBelow(command: Command, below: readonly Command[]): Command {
  for (const one of below) command.addCommand(one);
  return command.hook('preSubcommand', (above, one) => {
    for (const option of above.options) {
      const name = option.attributeName();
      if (above.getOptionValueSource(name) !== 'cli') continue;
      if (!one.options.some((own) => own.attributeName() === name))
        above.error(`error: option '${option.flags}' has no meaning with ${one.name()}`);
      one.setOptionValue(name, above.getOptionValue(name));
    }
  });
}

export function examplesText(examples: readonly string[]): string {
  return `\nExamples:\n${examples.map((example) => `  ${example}`).join('\n')}\n`;
}

/** `work` ends with its exit code; nothing: all went well. */
export async function carryOut(
  cli: Cli,
  { url }: Common,
  work: (client: Client) => Promise<Exit | void>,
): Promise<void> {
  if (url !== undefined) cli.url = url;
  cli.exit = (await work(cli.client())) ?? EXIT.completed;
}
