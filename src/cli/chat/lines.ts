/** Reads lines from a terminal or a pipe. A line that ends with a backslash continues on the next line. */
import { createInterface } from 'node:readline';
import type { Cli } from '../cli.ts';

export type Lines = AsyncIterable<string> & {
  isTerminal: boolean;
  prompt: () => void;
  close: () => void;
};

/** `earlier`: the input history for the arrow keys, newest first. */
export function openLines({ screen, input }: Cli, earlier: readonly string[]): Lines {
  const isTerminal = screen.canAsk;
  const reader = createInterface({
    input,
    ...(isTerminal ? { output: process.stderr } : {}),
    terminal: isTerminal,
    history: [...earlier],
    prompt: screen.sideInk('cyan', '› '),
  });
  reader.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  // Reading starts here, so that lines that arrive before the loop starts are not lost.
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
