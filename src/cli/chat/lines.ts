/** The lines of a person, or of a pipe; one that ends with a backslash goes on in the next. */
import { createInterface } from 'node:readline';
import type { Screen } from '../terminal/screen.ts';

export type Lines = AsyncIterable<string> & {
  isTerminal: boolean;
  /** Shows that a line is awaited. */
  prompt: () => void;
  close: () => void;
};

/** `earlier`: what the arrow keys bring back, the newest first. */
export function openLines(screen: Screen, earlier: readonly string[]): Lines {
  const isTerminal = screen.canAsk;
  const reader = createInterface({
    input: process.stdin,
    ...(isTerminal ? { output: process.stderr } : {}),
    terminal: isTerminal,
    history: [...earlier],
    prompt: screen.sideInk('cyan', '› '),
  });
  reader.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  // Lines are kept from the start, for whoever comes to read them.
  const arriving = reader[Symbol.asyncIterator]();
  let closed = false;
  reader.once('close', () => (closed = true));

  async function* whole(): AsyncGenerator<string> {
    let before = '';
    for await (const line of { [Symbol.asyncIterator]: () => arriving }) {
      if (line.endsWith('\\')) {
        before += `${line.slice(0, -1)}\n`;
        continue;
      }
      yield before + line;
      before = '';
    }
    if (before !== '') yield before;
  }
  return {
    [Symbol.asyncIterator]: whole,
    isTerminal,
    prompt: () => {
      if (isTerminal && !closed) reader.prompt(true);
    },
    close: () => reader.close(),
  };
}
