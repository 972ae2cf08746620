/** Runs a program and reads its output until it ends, times out or is cancelled. */
import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { headOfStream } from './output.ts';

/**
 * `begin`: starts it as the leader of its own process group, so that the warden can kill it if this process dies at any
 * time. `stop`: kills the program and all its processes. `tidy`: after the program ended, kills what it left running.
 */
export type Program = {
  outputBytes: number;
  begin(): ChildProcess;
  stop(child: ChildProcess): void;
  tidy(child: ChildProcess): void;
};

/** `failed`: it could not be started; `code` is the system error code. */
export type Ended =
  | { kind: 'exited'; exitCode: number; stdout: string; stderr: string }
  | { kind: 'stopped'; stdout: string; stderr: string }
  | { kind: 'failed'; code: string };

/** Processes left running can keep the streams open. After this time, in milliseconds, they are closed. */
const LINGER_MS = 500;

/** Never rejects. */
export function runProgram(program: Program, signal: AbortSignal): Promise<Ended> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve({ kind: 'stopped', stdout: '', stderr: '' });
      return;
    }
    const child = program.begin();
    const [stdout, stderr] = [
      headOfStream(child.stdout, program.outputBytes),
      headOfStream(child.stderr, program.outputBytes),
    ];
    let isStopped = false;
    const stop = (): void => {
      isStopped = true;
      program.stop(child);
    };
    const done = (ended: Ended): void => {
      signal.removeEventListener('abort', stop);
      child.stdout?.destroy();
      child.stderr?.destroy();
      resolve(ended);
    };
    child.once('error', (error: NodeJS.ErrnoException) => {
      if (child.pid !== undefined) return;
      program.tidy(child);
      done({ kind: 'failed', code: error.code ?? error.name });
    });
    const over = (code: number | null, by: NodeJS.Signals | null): void => {
      const texts = { stdout: stdout.text(), stderr: stderr.text() };
      done(isStopped ? { kind: 'stopped', ...texts } : { kind: 'exited', exitCode: exitCodeOf(code, by), ...texts });
    };
    child.once('exit', (code, by) => {
      program.tidy(child);
      const linger = setTimeout(() => over(code, by), LINGER_MS);
      child.once('close', () => {
        clearTimeout(linger);
        over(code, by);
      });
    });
    signal.addEventListener('abort', stop, { once: true });
  });
}

/** Like a shell: 128 plus the number of the signal. */
function exitCodeOf(code: number | null, by: NodeJS.Signals | null): number {
  return code ?? 128 + (by === null ? 0 : constants.signals[by]);
}
