/** Colours, if the stream supports them: `NO_COLOR`, `FORCE_COLOR`, `TERM` and whether it is a terminal decide (node:tty). */
import { WriteStream } from 'node:tty';
import { styleText } from 'node:util';
import type { Env, Tty } from './io.ts';

type Look = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan' | 'magenta';
export type Ink = (look: Look, text: string) => string;

const MONOCHROME_BITS = 1;

export function inkOf({ isTTY }: Tty, env: Env): Ink {
  const hasColours =
    (isTTY === true || env['FORCE_COLOR'] !== undefined) && WriteStream.prototype.getColorDepth(env) > MONOCHROME_BITS;
  return (look, text) => (hasColours && text !== '' ? styleText(look, text, { validateStream: false }) : text);
}

/** The colour for the state of a job, worker or check. */
export function lookOf(state: string): Look {
  switch (state) {
    case 'completed':
    case 'ok':
      return 'green';
    case 'running':
    case 'working':
      return 'cyan';
    case 'waiting':
    case 'incomplete':
    case 'warn':
      return 'yellow';
    case 'failed':
    case 'fail':
    case 'unknown':
    case 'denied':
      return 'red';
    default:
      return 'dim';
  }
}
