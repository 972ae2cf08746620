/** Prompts a person for one line. The prompt goes to stderr, so that stdout contains only the output. */
import { createInterface } from 'node:readline';

/** Null: the input ended or `signal` was aborted. Ctrl-C is passed on as SIGINT. */
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
