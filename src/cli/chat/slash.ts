/** The slash commands of the chat. */
import type { Interrupt } from '../../client/index.ts';

export const SLASH_HELP = `In the chat:
  /interrupt [keep|discard|rollback]  stop the answer; keep (default) or remove its finished messages
  /steer <text>                       add a message to the running job at its next step
  /branch [name]                      list the branches, or switch to one; a new name forks the current branch
  /retry                              answer the last message again
  /context                            show the ids and the state of the context
  /help, /quit                        show this help; leave the chat (like Ctrl-D)
A line that ends with \\ continues on the next line. Start a line with // to send text that begins with a slash.
Ctrl-C interrupts the running answer; a second Ctrl-C leaves. Text sent during an answer is queued as the next input.
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
      return rest === ''
        ? { kind: 'wrong', why: '/steer needs a text: /steer <text>.' }
        : { kind: 'steer', text: rest };
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
      return { kind: 'wrong', why: `Unknown command /${name}. Type /help for the list of commands.` };
  }
}

function interruptOf(mode: string): Line {
  return mode === 'keep' || mode === 'discard' || mode === 'rollback'
    ? { kind: 'interrupt', mode }
    : { kind: 'wrong', why: `Unknown mode ${mode}. Use keep, discard or rollback.` };
}
