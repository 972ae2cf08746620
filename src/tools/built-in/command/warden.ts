/**
 * Ends commands whose worker process died without a word. A process beside this one reads which groups run, and what must be
 * done about each, over a pipe; when the pipe closes, it does that to all that are left.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';

/** Lines are JSON: `[id, argv]` where a command began (argv: what ends it, or null: kill the process group), `[id]` where it ended. */
const PROGRAM = `
const { spawn } = require('node:child_process');
const left = new Map();
let rest = '';
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\\n');
  rest = lines.pop();
  for (const line of lines) {
    const [id, argv] = JSON.parse(line);
    if (argv === undefined) left.delete(id);
    else left.set(id, argv);
  }
});
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => undefined);
process.stdin.on('end', () => {
  for (const [id, argv] of left) {
    try {
      if (argv === null) process.kill(-id, 'SIGKILL');
      else spawn(argv[0], argv.slice(1), { stdio: 'ignore', detached: true }).on('error', () => undefined).unref();
    } catch {}
  }
});
`;

export class Warden {
  readonly #env: Readonly<Record<string, string>>;
  #process: ChildProcess | null = null;
  /** Those that run, should the warden have to be started anew. */
  readonly #left = new Map<number | string, readonly string[] | null>();

  /** `env`: what the commands that end others need. */
  constructor(env: Readonly<Record<string, string>>) {
    this.#env = env;
  }

  /** Before anything is begun: it is there then, or what is told waits for it in the pipe. */
  ready(): void {
    if (this.#process === null) this.#start();
  }

  /** `id`: of a process group, or any name where `argv` ends it. `then`: once it was told, or where nobody can be told. */
  began(id: number | string, argv: readonly string[] | null, then = (): void => undefined): void {
    this.#left.set(id, argv);
    this.#notify([id, argv], then);
  }

  ended(id: number | string): void {
    this.#left.delete(id);
    this.#notify([id]);
  }

  #start(): void {
    const child = spawn(process.execPath, ['-e', PROGRAM], {
      stdio: ['pipe', 'ignore', 'ignore'],
      env: { ...this.#env },
      // A signal for the group of this process is not for the warden.
      detached: true,
    });
    const gone = (): void => {
      if (this.#process === child) this.#process = null;
    };
    child.on('error', gone);
    child.on('exit', gone);
    child.stdin?.on('error', () => undefined);
    child.unref();
    if (child.stdin !== null && 'unref' in child.stdin && typeof child.stdin.unref === 'function')
      child.stdin.unref();
    this.#process = child;
    for (const entry of this.#left) this.#notify(entry);
  }

  #notify(line: readonly unknown[], then = (): void => undefined): void {
    const pipe = this.#process?.stdin ?? null;
    if (pipe === null) then();
    else pipe.write(`${JSON.stringify(line)}\n`, () => then());
  }
}
