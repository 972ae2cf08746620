// Real processes: TypeScript programs that Node runs directly. Each is known by its pid, and none outlives its test
// file.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { programFile, type Program } from '../../services/programs.ts';

export type Ended = { code: number | null; signal: NodeJS.Signals | null };

export type Child = {
  pid: number;
  /** Lines of stdout and stderr so far. */
  lines: string[];
  /** How it ended; null while it runs. */
  ended(): Ended | null;
  exited: Promise<Ended>;
  /** Resolves with the first line, past or future, that matches; rejects where the process ends without it. */
  says(pattern: RegExp): Promise<string>;
  signal(signal: NodeJS.Signals): void;
};

const running = new Set<ChildProcess>();

/** A process opens a connection for each statement that finds none idle; each costs PostgreSQL CPU. */
const FEW_CONNECTIONS = { NIGHTSHIFT_DATABASE_POOL_SIZE: '4' };

const ROOT = path.join(import.meta.dirname, '../../..');

/** The config file of the tests is named from the folder of the sources. */
function configOf({ NIGHTSHIFT_CONFIG: file }: Record<string, string>): Record<string, string> {
  return file === undefined ? {} : { NIGHTSHIFT_CONFIG: path.resolve(ROOT, file) };
}

/**
 * The environment is `env`, the PATH and the compile cache of the run, and few connections; nothing else. It runs in the
 * folder of the program, so that it never reads `.env` of the developer.
 */
export function startChild(program: Program, args: readonly string[], env: Record<string, string>): Child {
  const file = programFile(program);
  const child = spawn(process.execPath, [file, ...args], {
    cwd: path.dirname(file),
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      ...FEW_CONNECTIONS,
      ...env,
      ...configOf(env),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${program} did not start`);
  running.add(child);
  const lines: string[] = [];
  const listeners = new Set<(line: string) => void>();
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      for (const onLine of listeners) onLine(line);
    });
  }
  let end: Ended | null = null;
  const exited = new Promise<Ended>((resolve) => {
    child.once('close', (code, signal) => {
      running.delete(child);
      end = { code, signal };
      resolve(end);
    });
  });
  return {
    pid,
    lines,
    exited,
    ended: () => end,
    says: (pattern) =>
      new Promise((resolve, reject) => {
        const known = lines.find((line) => pattern.test(line));
        if (known !== undefined) return resolve(known);
        const onLine = (line: string): void => {
          if (!pattern.test(line)) return;
          listeners.delete(onLine);
          resolve(line);
        };
        listeners.add(onLine);
        void exited.then(() =>
          reject(new Error(`${program} ended without a line like ${pattern}:\n${lines.join('\n')}`)),
        );
      }),
    signal: (signal) => void child.kill(signal),
  };
}

/** Ends every process that still runs, at once: a stopped process too. */
export async function killChildren(): Promise<void> {
  await Promise.all(
    [...running].map(async (child) => {
      const closed = once(child, 'close');
      child.kill('SIGKILL');
      await closed;
    }),
  );
}
