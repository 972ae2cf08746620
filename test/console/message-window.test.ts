// The part of history that the console keeps: published messages find their place, and none is duplicated or left out.
import { describe, expect, test } from 'vitest';
import type { Message } from '../../src/client/index.ts';
import {
  append,
  EMPTY_WINDOW,
  place,
  prepend,
  renew,
  trimEnd,
  trimStart,
  type MessageWindow,
} from '../../web/src/data/live/message-window.ts';
import { rowsOf, timeOf } from '../../web/src/pages/chat/messages/rows.ts';

function message(seq: number | null, more: Partial<Message> = {}): Message {
  return {
    id: `m${seq ?? 'queued'}`,
    context_id: 'c',
    branch: 'main',
    seq,
    turn: null,
    role: 'assistant',
    type: 'text',
    status: seq === null ? 'queued' : 'completed',
    retraction: null,
    steered: false,
    compacted: false,
    content: [{ type: 'text', text: `${seq}` }],
    job_id: null,
    sender_worker_id: null,
    created_at: '2026-01-01T00:00:00Z',
    completed_at: null,
    model_id: null,
    provider_id: null,
    usage: null,
    finish_reason: null,
    error: null,
    ...more,
  };
}

const windowOf = (seqs: number[], more: Partial<MessageWindow> = {}): MessageWindow => ({
  ...EMPTY_WINDOW,
  messages: seqs.map((seq) => message(seq)),
  ...more,
});
const seqsOf = ({ messages }: MessageWindow) => messages.map(({ seq }) => seq);

describe('a window of history', () => {
  test('puts each published message in its place, once', () => {
    const window = [3, 1, 2, 3].reduce((at, seq) => place(at, message(seq)), EMPTY_WINDOW);
    expect(seqsOf(window)).toEqual([1, 2, 3]);
  });

  test('ignores messages outside its range, and queued or retracted ones', () => {
    const window = windowOf([5, 6], { hasOlder: true, hasNewer: true });
    for (const seq of [4, 7, null]) expect(place(window, message(seq))).toBe(window);
    expect(seqsOf(place(windowOf([5]), message(6, { status: 'retracted' })))).toEqual([5, 6]);
  });

  test('grows at both ends by pages that overlap it, in whatever order they were read', () => {
    const older = prepend(windowOf([5, 6], { hasOlder: true }), [message(5), message(4), message(3)], false);
    expect(seqsOf(older)).toEqual([3, 4, 5, 6]);
    expect(older.hasOlder).toBe(false);
    const newer = append({ ...older, hasNewer: true }, [message(6), message(7), message(null)], true);
    expect(seqsOf(newer)).toEqual([3, 4, 5, 6, 7]);
    expect(newer.hasNewer).toBe(true);
  });

  test('drops deleted messages on reload and keeps those published meanwhile', () => {
    expect(seqsOf(renew(windowOf([1, 2, 3, 9]), [message(1), message(3)], false))).toEqual([1, 3, 9]);
    const cut = renew(windowOf([1, 2, 3, 9]), [message(1), message(2)], true);
    expect([seqsOf(cut), cut.hasNewer]).toEqual([[1, 2], true]);
  });

  test('drops messages far from the reader, and knows that it did', () => {
    expect(trimEnd(windowOf([1, 2, 3]), 2)).toMatchObject({ hasNewer: true, hasOlder: false });
    expect(seqsOf(trimStart(windowOf([1, 2, 3]), 2))).toEqual([2, 3]);
    const whole = windowOf([1, 2]);
    expect(trimStart(whole, 2)).toBe(whole);
  });
});

const DAYS = { of: (at: number) => new Date(at).toISOString().slice(0, 10) };
const TODAY = { ...DAYS, today: DAYS.of(Date.parse(timeOf(message(1)))) };

describe('rows', () => {
  const call = message(2, { content: [{ type: 'tool_use', id: 't', name: 'look', input: {} }] });
  const result = message(3, {
    role: 'tool',
    type: 'tool_result',
    content: [{ type: 'tool_result', tool_use_id: 't', content: 'seen', is_error: false }],
  });
  const partial = { message_id: 'm4', attempt: 1, text: 'so far', thinking: '' };

  test('a result is shown by its call, and by itself where the call is not in the window', () => {
    const [row, ...more] = rowsOf([call, result], [], [], TODAY);
    expect(more).toEqual([]);
    expect(row?.kind === 'message' && row.results.get('t')?.block.content).toBe('seen');
    expect(rowsOf([result], [], [], TODAY)).toHaveLength(1);
  });

  test('a partial text comes last, until its message is there', () => {
    expect(rowsOf([call], [partial], [], TODAY).map(({ key }) => key)).toEqual(['m2', 'm4']);
    expect(rowsOf([call, message(4)], [partial], [], TODAY).map(({ kind }) => kind)).toEqual(['message', 'message']);
  });

  test('each day begins with a row of its own, except for today alone', () => {
    const at = (seq: number, day: string) => message(seq, { completed_at: `${day}T12:00:00.000Z` });
    const messages = [at(1, '2026-01-01'), at(2, '2026-01-01'), at(3, '2026-01-03'), at(4, '2026-01-02')];
    const keysOn = (today: string) => rowsOf(messages, [], [], { ...DAYS, today }).map(({ key }) => key);
    // Of two messages that were completed at the same time the later one may have the earlier time: it begins no day.
    expect(keysOn('2026-01-04')).toEqual(['day-m1', 'm1', 'm2', 'day-m3', 'm3', 'm4']);
    expect(keysOn('2026-01-01')).toEqual(['m1', 'm2', 'day-m3', 'm3', 'm4']);
  });
});
