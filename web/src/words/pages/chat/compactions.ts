/** Texts of the mark of a compaction in the history. */
import { exact } from '../../count.ts';

export const compactionWords = {
  label: 'Compaction',
  toolResults: 'Old tool results were compacted',
  olderMessages: 'Older messages were compacted',
  /** `hasMore`: not all were counted. */
  messages: (messages: number, hasMore: boolean) =>
    `${exact(messages)}${hasMore ? '+' : ''} ${messages === 1 ? 'message was' : 'messages were'} compacted`,
  tokens: (what: string, before: number, after: number) => `${what}: ${exact(before)} → ${exact(after)} tokens`,
  aboutToolResults:
    'From here on the model receives summaries of old tool results. The console shows the full results.',

  summary: 'Summary',
  summaryAbout: 'Summary that the model receives instead, {when}',
  summaryBy: 'Summary that the model receives instead, written by {model}, {when}',

  calls: 'Calls {tool}',
  argumentsOf: (tool: string) => `Arguments of ${tool}`,
  callFailed: 'The call failed',
  result: 'Result',
} as const;
