/** Asks a person for a secret: what is typed is not shown. */
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';

/** Null: the input ended. Ctrl-C is passed on as SIGINT. */
export function askSecret(question: string): Promise<string | null> {
  const unseen = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: unseen, terminal: true });
  // Only now: the terminal shows nothing of what is typed from here on.
  process.stderr.write(question);
  return new Promise((resolve) => {
    lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
    lines.once('close', () => {
      process.stderr.write('\n');
      resolve(null);
    });
    lines.question('', (line) => {
      resolve(line);
      lines.close();
    });
  });
}
