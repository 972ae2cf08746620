// The progress of a call goes to all who follow its context, and nothing of it comes after the call.
import { expect, test } from 'vitest';
import type { JobId, ProcessId, ToolCallId } from '../../../src/core/ids.ts';
import { advance } from '../../../src/events/feed/feed.ts';
import { newFeed, type FeedEvent, type FeedState } from '../../../src/events/feed/state.ts';
import { id } from '../../core/builders.ts';
import { CONTEXT } from './world.ts';

const [owner, other] = [id<ProcessId>(91), id<ProcessId>(92)];
const [jobId, toolCallId] = [id<JobId>(1), id<ToolCallId>(2)];
const progress = { message: 'half', done: 1, total: 2, at: 0 };
const event: FeedEvent = {
  kind: 'call_progress',
  frame: { kind: 'progress', owner, jobId, toolCallId, name: 'work', attempt: 1, progress },
};
const feed: FeedState = { ...newFeed(CONTEXT), tail: 3, known: 3, isSubscribed: true, holder: { owner, epoch: 1 } };

test.each<[string, FeedState, string[], number]>([
  ['it is sent', feed, ['broadcast'], 0],
  ['it is sent if no holder is known', { ...feed, holder: { owner: null, epoch: 1 } }, ['broadcast'], 0],
  ['nothing is sent before the head was read', newFeed(CONTEXT), [], 0],
  ['nothing is sent of a process that lost the context', { ...feed, holder: { owner: other, epoch: 2 } }, [], 0],
  ['nothing is sent after the result of the call', { ...feed, over: [toolCallId] }, [], 0],
  ['nothing is sent after the end of the job', { ...feed, over: [jobId] }, [], 0],
  ['during a read it waits', { ...feed, reading: { kind: 'head' } }, [], 1],
])('%s', (_, state, effects, waiting) => {
  const after = advance(state, event, 0);
  expect(after.effects.map(({ kind }) => kind)).toEqual(effects);
  expect(after.state.deferredFrames).toHaveLength(waiting);
});
