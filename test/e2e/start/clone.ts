// A copy of this repository as a new user has it: the files that git tracks or would add, nothing installed; and
// programs run in it as on a machine that has only an old Node, npm and git.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { commandOf } from '../../../src/dev/process-identity.ts';
import { temporaryFolder } from '../../services/temporary-folder.ts';

const ROOT = path.join(import.meta.dirname, '../../..');

export interface Account {
  uid: number;
  gid: number;
}

export interface Run {
  process: ChildProcess;
  /** All its output so far. */
  output(): string;
  /** Resolves to the first match; rejects when the program ends without one. */
  until(pattern: RegExp): Promise<RegExpExecArray>;
  /** Its exit code, or the signal that ended it. */
  ended: Promise<number | NodeJS.Signals>;
}

/** The folder of a fresh copy; its name has a space in it. */
export async function freshClone(): Promise<string> {
  const folder = path.join(await temporaryFolder(), 'a clone');
  const listed = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  for (const file of listed.stdout.split('\0').filter((name) => existsSync(path.join(ROOT, name)))) {
    if (file !== '') cpSync(path.join(ROOT, file), path.join(folder, file), { recursive: true });
  }
  chmodSync(folder, 0o755);
  return folder;
}

/** Runs a program in the folder, in a process group of its own. */
export function run(folder: string, command: string[], more: Record<string, string>, account?: Account): Run {
  const [program = '', ...args] = command;
  const child = spawn(program, args, {
    cwd: folder,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...newcomersEnvironment(), ...more },
    ...account,
  });
  let text = '';
  const wake = new Set<() => void>();
  const print = (): void => wake.forEach((listener) => listener());
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
      print();
    });
  }
  let over = false;
  const ended = once(child, 'close').then(() => {
    over = true;
    print();
    return child.exitCode ?? child.signalCode ?? 1;
  });
  return {
    process: child,
    output: () => text,
    ended,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const match = pattern.exec(text);
          if (match === null && !over) return;
          wake.delete(look);
          if (match === null) reject(new Error(`it ended without ${pattern.source}:\n${text}`));
          else resolve(match);
        };
        wake.add(look);
        look();
      }),
  };
}

/** Sends a signal to the whole group, as a terminal does. */
export function signalGroup(run: Run, signal: NodeJS.Signals): void {
  if (run.process.pid === undefined) throw new Error('it never started');
  process.kill(-run.process.pid, signal);
}

/** The command that `npm start` prints, given to a shell, ends with a completed job. */
export async function printedLineWorks(platform: Run): Promise<void> {
  const [, line = ''] = await platform.until(/Try it:\n\s+(curl .*)\n/);
  const { stdout } = spawnSync('sh', ['-c', line], { encoding: 'utf8', timeout: 60_000 });
  expect(stdout).toContain('"status":"completed"');
}

/** The watchdog of a service that has ended, ends shortly after it. */
export async function expectNothingLeft(folder: string): Promise<void> {
  await expect.poll(() => leftovers(folder), { timeout: 60_000 }).toEqual([]);
}

/** Processes whose command line names the folder. */
async function leftovers(folder: string): Promise<string[]> {
  const pids = readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid));
  const commands = await Promise.all(pids.map((pid) => commandOf(pid)));
  return commands.filter((command) => command !== null).filter((command) => command.includes(folder));
}

/** No variable of this test run, no services, and the oldest Node on PATH in front. */
function newcomersEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(npm_(?!config_)|NIGHTSHIFT_|VITEST|NODE_|DATABASE_URL|REDIS_URL|TEST|.*_API_KEY$)/i.test(name),
  );
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  const old = folders.filter((folder) => isOldNode(path.join(folder, 'node')));
  return { ...Object.fromEntries(kept), PATH: [...old, ...folders].join(path.delimiter) };
}

function isOldNode(file: string): boolean {
  const { stdout } = spawnSync(file, ['--version'], { encoding: 'utf8' });
  const major = Number(/^v(\d+)/.exec(stdout ?? '')?.[1]);
  return major >= 20 && major < 24;
}
