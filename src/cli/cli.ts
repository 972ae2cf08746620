/** What all commands that call the API share. */
import type { Readable } from 'node:stream';
import { Command } from 'commander';
import { createClient, type Client } from '../client/index.ts';
import { EXIT, type Exit } from './exit.ts';
import { DEFAULT_URL, connectionOf } from './profiles/connection.ts';
import type { Profile } from './profiles/profiles.ts';
import type { Io } from './terminal/io.ts';
import { openScreen, type Screen } from './terminal/screen.ts';

export type Cli = {
  screen: Screen;
  readonly input: Readable;
  env: Io['env'];
  /** The URL of the API: the default one until the options of the command are known. */
  url: string;
  /** The exit code of the process. */
  exit: Exit;
};

/** Fewer retries than the client's default, because a person is waiting. */
const RETRIES = 2;

export function openCli(io: Io): Cli {
  const { env } = io;
  return {
    screen: openScreen(io),
    get input() {
      return io.stdin;
    },
    env,
    url: env['NIGHTSHIFT_URL'] || DEFAULT_URL,
    exit: EXIT.completed,
  };
}

export type Common = { json?: true; url?: string; profile?: string };

export function clientOf({ url, key }: Profile): Client {
  return createClient({ url, retries: RETRIES, ...(key === null ? {} : { apiKey: key }) });
}

/** A command that calls the API: adds `--url`, `--profile`, `--json` unless turned off, and examples to its help. */
export function apiCommand(name: string, summary: string, examples: readonly string[], { json = true } = {}): Command {
  const command = commonOptions(new Command(name).description(summary)).addHelpText('after', examplesText(examples));
  return json ? command.option('--json', JSON_SUMMARY) : command;
}

const JSON_SUMMARY = 'print only JSON on stdout, and errors as JSON on stderr';

function commonOptions(command: Command): Command {
  return command
    .option('--url <url>', 'URL of the API; overrides NIGHTSHIFT_URL')
    .option('--profile <name>', 'the API and the key of this profile; overrides NIGHTSHIFT_PROFILE');
}

/** The options that may also stand before the name of a command. */
export function optionsBefore(program: Command): Command {
  return passDown(commonOptions(program).option('--json', JSON_SUMMARY));
}

/** Adds subcommands. An option given before the subcommand is passed to it, or refused if the subcommand lacks it. */
export function withBelow(command: Command, below: readonly Command[]): Command {
  for (const one of below) command.addCommand(one);
  return passDown(command);
}

function passDown(command: Command): Command {
  return command.hook('preSubcommand', (above, one) => {
    for (const option of above.options) {
      const name = option.attributeName();
      if (above.getOptionValueSource(name) !== 'cli') continue;
      if (!one.options.some((own) => own.attributeName() === name))
        above.error(`error: option '${option.flags}' cannot be used with ${one.name()}`);
      one.setOptionValueWithSource(name, above.getOptionValue(name), 'cli');
    }
  });
}

export function examplesText(examples: readonly string[]): string {
  return `\nExamples:\n${examples.map((example) => `  ${example}`).join('\n')}\n`;
}

/** `work` returns the exit code; none means success. */
export async function carryOut(
  cli: Cli,
  options: Common,
  work: (client: Client) => Promise<Exit | void>,
): Promise<void> {
  const connection = await connectionOf(cli.env, options);
  cli.url = connection.url;
  cli.exit = (await work(clientOf(connection))) ?? EXIT.completed;
}

/** Prints the answer of the API as JSON, or as `text`. */
export function print({ screen }: Cli, { json }: Common, answer: object, text: string): void {
  if (json === true) screen.json(answer);
  else screen.out(text);
}

/** Acts on one after the other, and prints what was done: with `--json` as one document, also if a later one fails. */
export async function doEach<Item>(
  { screen }: Cli,
  { json }: Common,
  items: Iterable<Item>,
  act: (item: Item) => Promise<{ done: object; text: string }>,
): Promise<void> {
  const data: object[] = [];
  try {
    for (const item of items) {
      const { done, text } = await act(item);
      data.push(done);
      if (json !== true) screen.out(text);
    }
  } finally {
    if (json === true && data.length > 0) screen.json({ data });
  }
}
