/** `import`: creates a context from a document. */
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import type { ImportContext, Json } from '../../../client/index.ts';
import { apiCommand, carryOut, type Cli, type Common } from '../../cli.ts';
import { parseJsonOf, readJson, readText } from '../../read-task.ts';
import { given } from '../../values.ts';

const TIMEOUT_MS = 600_000;

export function importCommand(cli: Cli): Command {
  return apiCommand(
    'import',
    'create a context from an export, from message pairs, or from a folder in the old layout',
    [
      'nightshift import ada.json',
      'nightshift export ada | NIGHTSHIFT_URL=http://other:3000 nightshift import -',
      'nightshift import contexts/0199…/',
    ],
  )
    .argument('<file|folder>', '- reads standard input')
    .option('-u, --user <name>', 'the end user whose context it becomes')
    .action((named: string, options: Common & { user?: string }) =>
      carryOut(cli, options, async (client) => {
        const document = await read(cli, named);
        const context = await client.contexts.import(document, {
          timeoutMs: TIMEOUT_MS,
          ...given({ user: options.user }),
        });
        if (options.json === true) return cli.screen.json(context);
        cli.screen.out(`${context.id}\n`);
        const { sideInk } = cli.screen;
        cli.screen.note(sideInk('dim', `${context.message_count} messages, worker ${context.worker_id}`));
      }),
    );
}

/** The API validates the document. */
async function read({ input }: Cli, named: string): Promise<ImportContext> {
  const found = named === '-' ? null : await stat(named).catch(() => null);
  return found?.isDirectory() === true ? { files: await readFolder(named) } : readJson(input, named);
}

async function readFolder(folder: string): Promise<{ [file: string]: Json }> {
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.json')).toSorted();
  const files: { [file: string]: Json } = {};
  for (const name of names) {
    const file = path.join(folder, name);
    files[name.split(path.sep).join('/')] = parseJsonOf<Json>(await readText(file), file);
  }
  return files;
}
