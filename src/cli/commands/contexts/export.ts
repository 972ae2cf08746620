/** `export`: writes a context as a document. */
import { writeFile } from 'node:fs/promises';
import { Option, type Command } from 'commander';
import { apiCommand, carryOut, type Cli, type Common } from '../../cli.ts';
import { findContextOf } from '../../find/find.ts';
import { fileError } from '../../read-task.ts';
import { safe, safeJson } from '../../terminal/safe.ts';

type Format = 'json' | 'markdown' | 'paired';
type Options = Common & { format?: Format; output?: string };

/** Exporting a long context takes minutes. */
const TIMEOUT_MS = 600_000;

export function exportCommand(cli: Cli): Command {
  return apiCommand('export', 'export a context as JSON, Markdown or message pairs', [
    'nightshift export ada > ada.json',
    'nightshift export 0199… --format markdown -o talk.md',
  ])
    .argument('<context|job|worker>', 'the context, by its own id or by a job or worker')
    .addOption(
      new Option('-f, --format <format>', 'output format; only json is complete and can be imported (default: json)')
        .choices(['json', 'markdown', 'paired'])
        .conflicts('json'),
    )
    .option('-o, --output <file>', 'write to a file instead of stdout')
    .action((named: string, options: Options) =>
      carryOut(cli, options, async (client) => {
        const contextId = await findContextOf(client, named);
        const { format = 'json', output } = options;
        const made = await client.contexts.export(contextId, { format }, { timeoutMs: TIMEOUT_MS });
        if (output !== undefined) {
          const text = typeof made === 'string' ? made : `${JSON.stringify(made)}\n`;
          await writeFile(output, text).catch((error: unknown) => {
            throw fileError('write', output, error);
          });
          cli.screen.note(`Written to ${output}.`);
        } else if (typeof made !== 'string') cli.screen.out(`${safeJson(made)}\n`);
        else cli.screen.out(cli.screen.isTerminal ? safe(made) : made);
      }),
    );
}
