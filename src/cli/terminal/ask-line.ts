/** One line from a person at the terminal; asked on stderr, so that stdout stays what was asked for. */
import { createInterface } from 'node:readline';

/** Null: nothing was said, since the input ended or `signal` was raised. Ctrl-C is what it is everywhere: a signal. */
export function askLine(question: string, signal?: AbortSignal): Promise<string | null> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  return new Promise<string | null>((resolve) => {
    const leave = (): void => lines.close();
    lines.once('close', () => {
      signal?.removeEventListener('abort', leave);
      resolve(null);
    });
    signal?.addEventListener('abort', leave);
    if (signal?.aborted === true) return leave();
    lines.question(question, (line) => {
      resolve(line);
      leave();
    });
  });
}
