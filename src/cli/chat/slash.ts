/** What can be said to the chat itself: lines that begin with a slash. */
import type { Interrupt } from '../../client/index.ts';

export const SLASH_HELP = `In the chat:
  /interrupt [keep|discard|rollback]  stops the running answer; keep what was finished (as Ctrl-C), or take it back
  /steer <text>                       joins the running job at its next step
  /branch [name]                      lists branches; switches to one, or makes it from where the talk stands
  /retry                              answers once more what stands
  /context                            where this is: ids, state
  /help, /quit                        this; leaves (so does Ctrl-D)
A line that ends with \\ goes on in the next one. // at the beginning sends a line that begins with a slash.
Ctrl-C interrupts the running answer, a second one leaves. Text that is sent while an answer is made waits its turn.
`;

export type Line =
  | { kind: 'text'; text: string }
  | { kind: 'interrupt'; mode: NonNullable<Interrupt['mode']> }
  | { kind: 'steer'; text: string }
  | { kind: 'branch'; name: string | null }
  | { kind: 'retry' | 'context' | 'help' | 'quit' | 'nothing' }
  | { kind: 'wrong'; why: string };

export function readLine(line: string): Line {
  if (line.trim() === '') return { kind: 'nothing' };
  if (line.startsWith('//')) return { kind: 'text', text: line.slice(1) };
  if (!line.startsWith('/')) return { kind: 'text', text: line };
  const [, name = '', rest = ''] = /^\/(\S*)\s*(.*)$/s.exec(line.trim()) ?? [];
  switch (name) {
    case 'interrupt':
      return interruptOf(rest === '' ? 'keep' : rest);
    case 'steer':
      return rest === '' ? { kind: 'wrong', why: 'Say what: /steer <text>.' } : { kind: 'steer', text: rest };
    case 'branch':
      return { kind: 'branch', name: rest === '' ? null : rest };
    case 'retry':
    case 'context':
    case 'help':
    case 'quit':
      return { kind: name };
    case 'exit':
      return { kind: 'quit' };
    default:
      return { kind: 'wrong', why: `There is no /${name}: /help says what there is.` };
  }
}

function interruptOf(mode: string): Line {
  return mode === 'keep' || mode === 'discard' || mode === 'rollback'
    ? { kind: 'interrupt', mode }
    : { kind: 'wrong', why: 'Its mode is keep, discard or rollback.' };
}
