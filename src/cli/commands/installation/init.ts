/** `init`: writes a new project. Calls no API. It is also the command of the package `create-nightshift`. */
import path from 'node:path';
import { Command } from 'commander';
import { examplesText, type Cli } from '../../cli.ts';
import { projectFiles } from '../../init/project.ts';
import { writeProject } from '../../init/write-project.ts';

const EXAMPLES = ['nightshift init my-agents', 'nightshift init . --json'];

export function initCommand(cli: Cli, name = 'init', examples: readonly string[] = EXAMPLES): Command {
  return new Command(name)
    .description('write a new project: a config file, a tool, its test, and what it needs to run')
    .addHelpText('after', examplesText(examples))
    .argument('[folder]', 'where to write it; created if it does not exist', '.')
    .option('--json', 'print only JSON on stdout, and errors as JSON on stderr')
    .action(async (named: string, { json }: { json?: true }) => {
      const folder = path.resolve(named);
      const files = await projectFiles(folder);
      await writeProject(folder, files);
      const names = files.map(({ file }) => file);
      if (json === true) cli.screen.json({ folder, files: names });
      else cli.screen.out(told(cli, folder, names));
    });
}

function told({ screen }: Cli, folder: string, names: readonly string[]): string {
  const place = path.relative(process.cwd(), folder);
  const steps = [
    ...(place === '' ? [] : [[`cd ${quoted(place)}`, '']]),
    ['npm install', ''],
    ['npm test', 'the test of the tool; needs no services'],
    ['npx nightshift dev', 'the platform, which loads changes at once'],
  ];
  return [
    `Wrote ${names.length} files into ${folder}:`,
    ...names.map((name) => `  ${name}${name === '.env' ? screen.ink('dim', '  made keys; only you can read it') : ''}`),
    '',
    'Next:',
    ...steps.map(([command = '', why = '']) => `  ${screen.ink('cyan', command.padEnd(20))}${why}`.trimEnd()),
    '',
  ].join('\n');
}

function quoted(place: string): string {
  return /^[\w./-]+$/.test(place) ? place : `'${place.replaceAll("'", `'\\''`)}'`;
}
