/** `export`: a context as a document. */
import { writeFile } from 'node:fs/promises';
import { Option } from 'commander';
import type { Command } from 'commander';
import { apiCommand, carryOut } from '../cli.ts';
import type { Cli, Common } from '../cli.ts';
import { CommandError, EXIT } from '../exit.ts';
import { findPlace } from '../find.ts';
import { safe, safeJson } from '../terminal/safe.ts';

type Format = 'json' | 'markdown' | 'paired';
type Options = Common & { format?: Format; output?: string };

/** A long context takes its time. */
const TIMEOUT_MS = 600_000;

export function exportCommand(cli: Cli): Command {
  return apiCommand('export', 'a context as JSON, Markdown or pairs', [
    'nightshift export ada > ada.json',
    'nightshift export 0199… --format markdown -o talk.md',
  ])
    .argument('<context|job|worker>', 'whose context')
    .addOption(
      new Option('-f, --format <format>', 'json holds everything and can be imported; default: json')
        .choices(['json', 'markdown', 'paired'])
        .conflicts('json'),
    )
    .option('-o, --output <file>', 'writes to a file, in place of stdout')
    .action((named: string, options: Options) =>
      carryOut(cli, options, async (client) => {
        const { contextId } = await findPlace(client, named);
        const { format = 'json', output } = options;
        const made = await client.contexts.export(contextId, { format }, { timeoutMs: TIMEOUT_MS });
        if (output !== undefined) {
          await write(output, typeof made === 'string' ? made : `${JSON.stringify(made)}\n`);
          cli.screen.note(`Written to ${output}.`);
        } else if (typeof made !== 'string') cli.screen.out(`${safeJson(made)}\n`);
        else cli.screen.out(cli.screen.isTerminal ? safe(made) : made);
      }),
    );
}

async function write(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new CommandError(EXIT.usage, `${file} cannot be written (${why}).`);
  }
}
