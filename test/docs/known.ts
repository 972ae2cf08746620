// What exists, for documentation to name: commands and their options, environment variables, scripts, operations of the
// API.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { CommanderError, type Command } from 'commander';
import { openCli } from '../../src/cli/cli.ts';
import { makeProgram } from '../../src/cli/program.ts';
import { ConfigError, parseEnvironment } from '../../src/config/config.ts';
import { ROOT, read } from './markdown.ts';

const ENVIRONMENT = new Set([...read('.env.example').matchAll(/^(?:# )?([A-Z][A-Z_]+)=/gm)].map(([, name]) => name));
const OF_NODE = ['NODE_OPTIONS', 'NODE_EXTRA_CA_CERTS', 'NO_COLOR', 'FORCE_COLOR'];

/** `value`: checked unless it is the reader's own (`…`, `$KEY`). */
export function faultOfVariable(name: string, value: string): string | null {
  if (!ENVIRONMENT.has(name) && !OF_NODE.includes(name)) return `there is no environment variable ${name}`;
  if (/[…$]|^$/.test(value)) return null;
  try {
    parseEnvironment({ [name]: value });
    return null;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.faults.find((fault) => fault.startsWith(`${name} `)) ?? null;
  }
}

/** Names in any text. */
export const faultsOfNames = (text: string): string[] =>
  [...text.matchAll(/\bNIGHTSHIFT_[A-Z_]+\b/g)].flatMap(([name]) => faultOfVariable(name, '') ?? []);

const cli = openCli(process);

/** What `nightshift` says against these arguments; null: it takes them. */
export function faultOfNightshift(args: readonly string[]): string | null {
  const program = makeProgram(cli);
  disarm(program);
  try {
    program.parse(args, { from: 'user' });
    return null;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? null : `nightshift ${args.join(' ')}: ${error.message}`;
  }
}

function disarm(command: Command): void {
  command.configureOutput({ writeOut: () => undefined, writeErr: () => undefined });
  // Also of those that have subcommands: `webhooks` alone lists them.
  if (command.parent !== null) command.action(() => undefined);
  for (const below of command.commands) disarm(below);
}

const manifest: unknown = JSON.parse(read('package.json'));
const SCRIPTS =
  typeof manifest === 'object' && manifest !== null && 'scripts' in manifest ? Object(manifest.scripts) : {};

export const isScript = (name: string): boolean => Object.hasOwn(SCRIPTS, name);
export const isFile = (name: string): boolean => existsSync(path.join(ROOT, name));
export const isInstalled = (program: string): boolean => isFile(`node_modules/.bin/${program}`);

/** `GET /api/jobs/{id}` */
const OPERATIONS = [...read('src/client/schema.ts').matchAll(/^ {2}'([A-Z]+ \/\S*)': \{$/gm)].map(
  ([, name = '']) => name,
);

/** The operation that a request of this kind calls, whatever ids its path has; null: there is none. */
export function operationOf(method: string | null, url: string): string | null {
  const { pathname } = new URL(url.replaceAll(/[{}$<>…]/g, '_'), 'http://127.0.0.1');
  const candidates = OPERATIONS.filter((name) => {
    const [verb = '', template = ''] = name.split(' ');
    const pattern = template.replaceAll('.', '\\.').replaceAll(/\{[^}]+\}/g, '[^/]+');
    return (method === null || method === verb) && new RegExp(`^${pattern}$`).test(pathname);
  });
  // A path that says a name goes before one that leaves it open.
  return candidates.toSorted((one, other) => one.split('{').length - other.split('{').length)[0] ?? null;
}
