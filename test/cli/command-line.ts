// The command line, in this process or as one of its own: its output on stdout and stderr, and its exit code. And a
// platform for it: a process of its own, on a database of its own, whose API requires a key.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { runProgram } from '../../src/cli/program.ts';
import { createClient, type Client } from '../../src/client/index.ts';
import { killChildren, startChild } from '../e2e/rig/children.ts';
import { createTestDatabase } from '../services/database.ts';
import { programFile } from '../services/programs.ts';
import { removeFolder, temporaryFolder } from '../services/temporary-folder.ts';

export const MAIN = programFile('src/cli/main.ts');
const READY = /is ready at (http:\S+)/;
export const KEY = 'a-key-of-the-tests';

export type Env = Record<string, string>;
export type Done = { code: number | null; out: string; err: string };
export type Running = {
  /** The output so far. */
  output(): { out: string; err: string };
  /** Resolves once stdout or stderr contains it; rejects where the process ends without it. */
  says(stream: 'out' | 'err', pattern: RegExp): Promise<RegExpExecArray>;
  write(text: string): void;
  end(): void;
  signal(signal: NodeJS.Signals): void;
  /** Closes the read side of its stdout. */
  deafen(): void;
  done: Promise<Done>;
};

const running = new Set<ChildProcess>();

/** Without `cwd` it runs in the folder of the program, where there is no `.env` of the developer. */
export function start(
  args: readonly string[],
  env: Env = {},
  { cwd = path.dirname(MAIN), command }: { cwd?: string; command?: readonly string[] } = {},
): Running {
  const [program = '', ...rest] = command ?? [process.execPath, MAIN, ...args];
  const child = spawn(program, rest, {
    env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'], ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
    cwd,
  });
  running.add(child);
  const output = { out: '', err: '' };
  const looks = new Set<() => void>();
  const look = (): void => looks.forEach((one) => one());
  for (const [name, stream] of [
    ['out', child.stdout],
    ['err', child.stderr],
  ] as const) {
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => {
      output[name] += text;
      look();
    });
  }
  child.stdin.on('error', () => undefined);
  let over = false;
  const done = once(child, 'close').then(([code]: (number | null)[]) => {
    over = true;
    running.delete(child);
    look();
    return { code: code ?? null, ...output };
  });
  return {
    output: () => output,
    says: (stream, pattern) =>
      new Promise((resolve, reject) => {
        const find = (): void => {
          const match = pattern.exec(output[stream]);
          if (match === null && !over) return;
          looks.delete(find);
          if (match !== null) resolve(match);
          else reject(new Error(`${args.join(' ')} ended without ${pattern}:\n${output.out}\n${output.err}`));
        };
        looks.add(find);
        find();
      }),
    write: (text) => void child.stdin.write(text),
    end: () => void child.stdin.end(),
    signal: (signal) => void child.kill(signal),
    deafen: () => child.stdout.destroy(),
    done,
  };
}

/** A command of the API, in this process: a process of its own takes a sixth of a second to start. */
export async function run(args: readonly string[], env: Env = {}, input = ''): Promise<Done> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const outputs = Promise.all([text(stdout), text(stderr)]);
  const code = await runProgram(args, { stdin: Readable.from([Buffer.from(input)]), stdout, stderr, env });
  stdout.end();
  stderr.end();
  const [out, err] = await outputs;
  return { code, out, err };
}

/** Any command, as a process of its own. */
export async function runProcess(
  args: readonly string[],
  env: Env = {},
  { input = '', cwd }: { input?: string; cwd?: string } = {},
): Promise<Done> {
  const child = start(args, env, cwd === undefined ? {} : { cwd });
  child.write(input);
  child.end();
  return child.done;
}

export type Platform = {
  url: string;
  databaseUrl: string;
  client: Client;
  /** The settings that the command line needs. */
  env: Env;
  /** A folder of its own. */
  folder: string;
  /** `run` with its environment. */
  run(args: readonly string[], input?: string): Promise<Done>;
  /** `run`, of which stdout must be JSON. */
  json<T>(args: readonly string[]): Promise<T>;
  start(args: readonly string[], env?: Env): Running;
  close(): Promise<void>;
};

/** `more`: settings of the process. */
export async function openPlatform(more: Env = {}): Promise<Platform> {
  const database = await createTestDatabase();
  const folder = await temporaryFolder();
  const child = startChild('src/cli/main.ts', ['start'], {
    DATABASE_URL: database.url,
    PORT: '0',
    NIGHTSHIFT_API_KEYS: `${KEY}:tests`,
    NIGHTSHIFT_DATA: folder,
    NIGHTSHIFT_CONFIG: path.join(import.meta.dirname, 'prices.config.ts'),
    LOG_LEVEL: 'error',
    ...more,
  });
  const [, url = ''] = READY.exec(await child.says(READY)) ?? [];
  const env = { NIGHTSHIFT_URL: url, NIGHTSHIFT_API_KEY: KEY };
  return {
    url,
    databaseUrl: database.url,
    client: createClient({ url, apiKey: KEY }),
    env,
    folder,
    run: (args, input) => run(args, env, input),
    async json(args) {
      const { out, err } = await run(args, env);
      try {
        return JSON.parse(out);
      } catch {
        throw new Error(`${args.join(' ')} printed no JSON: ${out}\n${err}`);
      }
    },
    start: (args, more = {}) => start(args, { ...env, ...more }),
    async close() {
      for (const one of running) one.kill('SIGKILL');
      child.signal('SIGTERM');
      await child.exited;
      await killChildren();
      await database.drop();
      await removeFolder(folder);
    },
  };
}
