/** Colours, if the stream supports them. `NO_COLOR`, `FORCE_COLOR` and whether it is a terminal decide (node:util). */
import { styleText } from 'node:util';

type Look = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan' | 'magenta';
export type Ink = (look: Look, text: string) => string;

export function inkOf(stream: NodeJS.WritableStream): Ink {
  return (look, text) => (text === '' ? '' : styleText(look, text, { stream }));
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
