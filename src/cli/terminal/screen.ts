/**
 * Where a command writes: what was asked for on stdout, what is said beside it on stderr. A reader who leaves ends the
 * process without a word.
 */
import { isatty } from 'node:tty';
import { EXIT } from '../exit.ts';
import { inkOf } from './ink.ts';
import type { Ink } from './ink.ts';
import { safeJson } from './safe.ts';

export type Screen = {
  /** What was asked for. */
  out(text: string): void;
  /** One document: indented on a terminal, else on one line. */
  json(value: unknown): void;
  /** One line of a stream of documents. */
  jsonLine(value: unknown): void;
  /** A line beside it. */
  note(line: string): void;
  ink: Ink;
  /** Of stderr. */
  sideInk: Ink;
  /** Columns; null: no terminal, no end. */
  columns: number | null;
  /** Whether a person reads stdout as it comes. */
  isTerminal: boolean;
  /** Whether a person is there to be asked. */
  canAsk: boolean;
};

export function openScreen(): Screen {
  const { stdout, stderr } = process;
  for (const stream of [stdout, stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(EXIT.unread);
      throw error;
    });
  }
  const isTerminal = isatty(1);
  // Text that ended in the middle of a line: what is said beside it on the same terminal begins a new one.
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
      if (open && isTerminal && isatty(2)) out('\n');
      stderr.write(`${line}\n`);
    },
    ink: inkOf(stdout),
    sideInk: inkOf(stderr),
    columns: isTerminal ? stdout.columns : null,
    isTerminal,
    canAsk: isatty(0) && isatty(2),
  };
}
