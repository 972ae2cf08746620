/** Runs a program with both its streams read, until it ends, its time is over, or nobody wants it any more. */
import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { headOfStream } from './output.ts';

/**
 * `begin`: starts it, the leader of a process group of its own, so that somebody ends it should this process die, at whatever
 * moment. `stop`: ends all of it by force. `tidy`: after it ended, ends what it left running.
 */
export type Program = {
  outputBytes: number;
  begin(): ChildProcess;
  stop(child: ChildProcess): void;
  tidy(child: ChildProcess): void;
};

/** `failed`: it could not be started; `code` as the system has it. */
export type Ended =
  | { kind: 'exited'; exitCode: number; stdout: string; stderr: string }
  | { kind: 'stopped'; stdout: string; stderr: string }
  | { kind: 'failed'; code: string };

/** What a program leaves behind may hold its streams open: they are not waited for longer, in milliseconds. */
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
      done(
        isStopped
          ? { kind: 'stopped', ...texts }
          : { kind: 'exited', exitCode: exitCodeOf(code, by), ...texts },
      );
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

/** As shells have it: 128 and the number of the signal. */
function exitCodeOf(code: number | null, by: NodeJS.Signals | null): number {
  return code ?? 128 + (by === null ? 0 : constants.signals[by]);
}
