// Streams that end with a credential: one query for all of them, and none where there are none.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ASK_MS, openCredentialStreams } from '../../../src/api/access/credential-streams.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function opened(live: Set<string> | Error) {
  const asked: string[][] = [];
  const streams = openCredentialStreams(String, async (hashes: readonly string[]) => {
    asked.push([...hashes]);
    if (live instanceof Error) throw live;
    return live;
  });
  return { asked, streams };
}

test('are checked in one query, each session once, and not at all when they have ended', async () => {
  const { asked, streams } = opened(new Set(['a', 'b']));
  const ended: string[] = [];
  const leave = ['a', 'a', 'b'].map((session) => streams.add(session, () => ended.push(session)));
  await vi.advanceTimersByTimeAsync(2 * ASK_MS);
  expect(asked).toEqual([
    ['a', 'b'],
    ['a', 'b'],
  ]);
  // What else lives in this process may have timers of its own.
  const before = vi.getTimerCount();
  for (const one of leave) one();
  expect(vi.getTimerCount()).toBe(before - 1);
  await vi.advanceTimersByTimeAsync(5 * ASK_MS);
  expect([asked.length, ended]).toEqual([2, []]);
});

test('end when their session is deleted, and the others continue', async () => {
  const { streams } = opened(new Set(['b']));
  const ended: string[] = [];
  for (const session of ['a', 'b', 'a']) streams.add(session, () => ended.push(session));
  await vi.advanceTimersByTimeAsync(ASK_MS);
  expect(ended).toEqual(['a', 'a']);
});

test('end at once when this process signs their session out', () => {
  const { asked, streams } = opened(new Set());
  const ended: string[] = [];
  for (const session of ['a', 'b']) streams.add(session, () => ended.push(session));
  streams.end('a');
  expect([ended, asked]).toEqual([['a'], []]);
});

test('that began during a query are checked the next time', async () => {
  const answer = Promise.withResolvers<ReadonlySet<string>>();
  const streams = openCredentialStreams(String, () => answer.promise);
  const ended: string[] = [];
  streams.add('a', () => ended.push('a'));
  await vi.advanceTimersByTimeAsync(ASK_MS);
  streams.add('b', () => ended.push('b'));
  answer.resolve(new Set(['a']));
  await vi.advanceTimersByTimeAsync(0);
  expect(ended).toEqual([]);
  await vi.advanceTimersByTimeAsync(ASK_MS);
  expect(ended).toEqual(['b']);
});

test('continue while Postgres does not answer', async () => {
  const { asked, streams } = opened(new Error('away'));
  const ended: string[] = [];
  streams.add('a', () => ended.push('a'));
  await vi.advanceTimersByTimeAsync(3 * ASK_MS);
  expect([asked.length, ended]).toEqual([3, []]);
});
