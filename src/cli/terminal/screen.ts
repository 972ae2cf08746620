/**
 * The output of a command: results on stdout, notes on stderr. When the reader closes the pipe, the process exits
 * silently.
 */
import { EXIT } from '../exit.ts';
import { inkOf, type Ink } from './ink.ts';
import type { Io } from './io.ts';
import { safeJson } from './safe.ts';

export type Screen = {
  out(text: string): void;
  /** Writes one document: indented on a terminal, otherwise on one line. */
  json(value: unknown): void;
  /** Writes one document of a stream, on one line. */
  jsonLine(value: unknown): void;
  note(line: string): void;
  ink: Ink;
  /** Ink for stderr. */
  sideInk: Ink;
  /** Columns of the terminal at this moment; null: not a terminal, or one without a size: unlimited. */
  readonly columns: number | null;
  /** Its rows; null: not a terminal, or one without a size. */
  readonly rows: number | null;
  /** Calls `draw` whenever the terminal gets another size, until the returned function is called. */
  onResize(draw: () => void): () => void;
  /** Calls `leave` before Ctrl-Z suspends the process, and `enter` once it goes on, until the returned function is called. */
  onSuspend(leave: () => void, enter: () => void): () => void;
  /** Whether stdout is a terminal. */
  isTerminal: boolean;
  canAsk: boolean;
};

export function openScreen(io: Io): Screen {
  const { stdout, stderr, env } = io;
  for (const stream of [stdout, stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(EXIT.unread);
      throw error;
    });
  }
  const isTerminal = stdout.isTTY === true;
  // stdout ended in the middle of a line: a note on the same terminal starts a new line first.
  let open = false;
  const out = (text: string): void => {
    if (text === '') return;
    stdout.write(text);
    open = !text.endsWith('\n');
  };
  return {
    out,
    json: (value) => out(`${safeJson(value, isTerminal ? 2 : 0)}\n`),
    jsonLine: (value) => out(`${safeJson(value)}\n`),
    note(line) {
      if (open && isTerminal && stderr.isTTY === true) out('\n');
      stderr.write(`${line}\n`);
    },
    ink: inkOf(stdout, env),
    sideInk: inkOf(stderr, env),
    get columns() {
      return isTerminal ? stdout.columns || null : null;
    },
    get rows() {
      return isTerminal ? stdout.rows || null : null;
    },
    onResize(draw) {
      stdout.on('resize', draw);
      return () => void stdout.off('resize', draw);
    },
    onSuspend(leave, enter) {
      const suspend = (): void => {
        leave();
        // Without a listener the signal suspends this process. `kill` returns once the process goes on, or at once where
        // no shell could continue it.
        process.off('SIGTSTP', suspend);
        process.kill(process.pid, 'SIGTSTP');
        process.on('SIGTSTP', suspend);
        enter();
      };
      process.on('SIGTSTP', suspend);
      return () => void process.off('SIGTSTP', suspend);
    },
    isTerminal,
    get canAsk() {
      return io.stdin.isTTY === true && stderr.isTTY === true;
    },
  };
}
