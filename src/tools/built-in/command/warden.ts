/**
 * Ends commands whose worker process died. The warden is a separate process that reads from a pipe which commands run
 * and how to end each one. When the pipe closes, it ends all remaining commands.
 */
import { spawn, type ChildProcess } from 'node:child_process';

/**
 * Each line is JSON: `[id, argv]` when a command starts (argv: the command that ends it; null: kill the group), `[id]`
 * when it ends.
 */
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
  /** Running commands, in case the warden must be restarted. */
  readonly #left = new Map<number | string, readonly string[] | null>();

  /** `env`: the environment of the commands that end others. */
  constructor(env: Readonly<Record<string, string>>) {
    this.#env = env;
  }

  /** Starts the warden if needed. Messages sent before it runs wait in the pipe. */
  ready(): void {
    if (this.#process === null) this.#start();
  }

  /**
   * `id`: a process group, or any name if `argv` ends it. `then` runs after the message was sent, or if there is no
   * warden.
   */
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
      // Signals to the process group of this process do not reach the warden.
      detached: true,
    });
    const onEnd = (): void => {
      if (this.#process === child) this.#process = null;
    };
    child.on('error', onEnd);
    child.on('exit', onEnd);
    child.stdin?.on('error', () => undefined);
    child.unref();
    if (child.stdin !== null && 'unref' in child.stdin && typeof child.stdin.unref === 'function') child.stdin.unref();
    this.#process = child;
    for (const entry of this.#left) this.#notify(entry);
  }

  #notify(line: readonly unknown[], then = (): void => undefined): void {
    const pipe = this.#process?.stdin ?? null;
    if (pipe === null) then();
    else pipe.write(`${JSON.stringify(line)}\n`, () => then());
  }
}
