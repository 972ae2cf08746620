/** Parses the arguments of a command, runs it and handles errors. */
import { CommanderError, type Command } from 'commander';
import type { Cli } from './cli.ts';
import { EXIT, toEnd, toFault, type Fault } from './exit.ts';
import { safe, safeJson } from './terminal/safe.ts';
import type { Screen } from './terminal/screen.ts';

/** `make` gets whether nothing but JSON is written to stderr. Returns the exit code. */
export async function runParsed(
  make: (asJson: boolean) => Command,
  args: readonly string[],
  cli: Cli,
): Promise<number> {
  const asJson = wantsJson(args);
  const program = make(asJson);
  const end = (message: string, fault: Fault): void => {
    if (asJson) cli.screen.note(safeJson(fault));
    else cli.screen.note(`${cli.screen.sideInk('red', 'nightshift:')} ${safe(message)}`);
  };
  try {
    await program.parseAsync(args, { from: 'user' });
    return cli.exit;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return EXIT.completed;
      const message = usageText(error, commandIn(program, args));
      // Commander has printed the help of a command whose subcommand is missing.
      if (message !== null || asJson)
        end(message ?? '', { code: 'usage', message: message ?? 'A subcommand is missing.', status: null });
      return EXIT.usage;
    }
    const fault = toFault(error, cli.url);
    const known = toEnd(error, cli.url);
    if (fault !== null && known !== null) {
      end(known.message, fault);
      return known.exit;
    }
    if (!asJson) throw error;
    end('', { code: 'internal', message: error instanceof Error ? error.message : String(error), status: null });
    return EXIT.failed;
  }
}

/** `program` writes to the screen, and throws in place of an exit. `asJson`: nothing but JSON is written to stderr. */
export function writeTo(screen: Screen, program: Command, asJson: boolean): void {
  program
    .configureOutput({
      writeOut: (text) => screen.out(text),
      writeErr: (text) => (asJson ? undefined : screen.note(text.trimEnd())),
      // `runParsed` prints it.
      outputError: () => undefined,
    })
    .configureHelp({
      styleTitle: (text) => screen.ink('bold', text),
      styleCommandText: (text) => screen.ink('cyan', text),
      styleSubcommandText: (text) => screen.ink('cyan', text),
      styleOptionText: (text) => screen.ink('cyan', text),
    })
    .exitOverride();
}

/** Also where the arguments are wrong, and cannot be parsed. */
function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return args.slice(0, end < 0 ? args.length : end).includes('--json');
}

/** The message of an error in the arguments, on one line, with what to do. Null: the help was printed instead. */
function usageText({ code, message }: CommanderError, command: string): string | null {
  if (code === 'commander.help') return null;
  const [text = '', ...hints] = message.replace(/^error: /, '').split('\n');
  const sentence = `${text.charAt(0).toUpperCase()}${text.slice(1)}`.replace(/([^.?])$/, '$1.');
  const similar = hints.map((hint) => hint.replace(/^\((.*)\)$/, '$1'));
  return [sentence, ...similar, `Run \`${command} --help\`.`].join(' ');
}

/** The command that the arguments name, as far as there is one. */
function commandIn(program: Command, args: readonly string[]): string {
  let command = program;
  const names = [program.name()];
  for (const arg of args) {
    const below = command.commands.find((one) => one.name() === arg);
    if (below === undefined) continue;
    command = below;
    names.push(below.name());
  }
  return names.join(' ');
}
