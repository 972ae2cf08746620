/** What all commands that call the API share. */
import type { Readable } from 'node:stream';
import { Command } from 'commander';
import { createClient, type Client } from '../client/index.ts';
import { CommandError, EXIT, type Exit } from './exit.ts';
import type { Io } from './terminal/io.ts';
import { openScreen, type Screen } from './terminal/screen.ts';
import { table, type Column } from './terminal/table.ts';

export type Cli = {
  screen: Screen;
  readonly input: Readable;
  env: Io['env'];
  /** The URL of the API. */
  url: string;
  client(): Client;
  /** The exit code of the process. */
  exit: Exit;
};

const DEFAULT_URL = 'http://127.0.0.1:3000';
/** Fewer retries than the client's default, because a person is waiting. */
const RETRIES = 2;

export function openCli(io: Io): Cli {
  const { env } = io;
  const cli: Cli = {
    screen: openScreen(io),
    get input() {
      return io.stdin;
    },
    env,
    url: env['NIGHTSHIFT_URL'] || DEFAULT_URL,
    exit: EXIT.completed,
    client() {
      if (!['http:', 'https:'].includes(URL.parse(cli.url)?.protocol ?? ''))
        throw new CommandError(
          EXIT.usage,
          'The API URL is invalid. Set NIGHTSHIFT_URL or --url to an http:// or https:// URL.',
        );
      const apiKey = env['NIGHTSHIFT_API_KEY'] || undefined;
      return createClient({ url: cli.url, retries: RETRIES, ...(apiKey === undefined ? {} : { apiKey }) });
    },
  };
  return cli;
}

export type Common = { json?: true; url?: string };

/** A command that calls the API: adds `--url`, `--json` unless turned off, and examples to its help. */
export function apiCommand(name: string, summary: string, examples: readonly string[], { json = true } = {}): Command {
  const command = new Command(name)
    .description(summary)
    .option('--url <url>', 'URL of the API; overrides NIGHTSHIFT_URL')
    .addHelpText('after', examplesText(examples));
  return json ? command.option('--json', 'print only JSON on stdout') : command;
}

/** Adds subcommands. An option given before the subcommand is passed to it, or refused if the subcommand lacks it. */
export function withBelow(command: Command, below: readonly Command[]): Command {
  for (const one of below) command.addCommand(one);
  return command.hook('preSubcommand', (above, one) => {
    for (const option of above.options) {
      const name = option.attributeName();
      if (above.getOptionValueSource(name) !== 'cli') continue;
      if (!one.options.some((own) => own.attributeName() === name))
        above.error(`error: option '${option.flags}' cannot be used with ${one.name()}`);
      one.setOptionValue(name, above.getOptionValue(name));
    }
  });
}

export function examplesText(examples: readonly string[]): string {
  return `\nExamples:\n${examples.map((example) => `  ${example}`).join('\n')}\n`;
}

/** `work` returns the exit code; none means success. */
export async function carryOut(
  cli: Cli,
  { url }: Common,
  work: (client: Client) => Promise<Exit | void>,
): Promise<void> {
  if (url !== undefined) cli.url = url;
  cli.exit = (await work(cli.client())) ?? EXIT.completed;
}

/** Prints the answer of the API as JSON, or as `text`. */
export function print({ screen }: Cli, { json }: Common, answer: object, text: string): void {
  if (json === true) screen.json(answer);
  else screen.out(text);
}

/** The first items of a paged list. Fetches only as many pages as needed. */
export async function first<Item>(items: AsyncIterable<Item>, most: number): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) {
    found.push(item);
    if (found.length >= most) break;
  }
  return found;
}

/** `none`: the text if there are no rows. */
export type List<Row> = { columns: readonly Column<Row>[]; none: string };

/** Prints the first rows of a paged list. */
export async function printList<Row>(
  cli: Cli,
  options: Common & { limit: number },
  rows: AsyncIterable<Row>,
  list: List<Row>,
): Promise<void> {
  const data = await first(rows, options.limit);
  print(cli, options, { data }, listText(cli, data, list));
}

export function listText<Row>({ screen }: Cli, rows: readonly Row[], { columns, none }: List<Row>): string {
  return rows.length === 0 ? `${none}\n` : table(columns, rows, screen.ink, screen.columns);
}
