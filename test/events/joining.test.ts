// A subscriber that joins while the tail lags behind the subscriber's own read.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { localBus } from '../../src/bus/local.ts';
import type { JobId, MessageId } from '../../src/core/ids.ts';
import type { AnswerId } from '../../src/core/stream/partial-message.ts';
import type { StreamEvent } from '../../src/core/stream/stream-event.ts';
import { readHead } from '../../src/db/read/messages/event-views.ts';
import { InterestPublisher } from '../../src/events/interest-publisher.ts';
import { ContextFeed } from '../../src/events/context-feed.ts';
import { Pace } from '../../src/events/pace.ts';
import type { Subscriber } from '../../src/events/subscriber.ts';
import { given, ids, type Given } from '../db/database-fixture.ts';

let the: Given;
beforeAll(async () => {
  the = await given();
});
afterAll(() => the.close());

function recordingSubscriber(): Subscriber & { received: StreamEvent[] } {
  const received: StreamEvent[] = [];
  return {
    received,
    send: (events) => void received.push(...events),
    drained: () => Promise.resolve(),
    end: () => undefined,
  };
}

const names = ({ received }: { received: StreamEvent[] }): string[] => received.map(({ name }) => name);

test('it receives no text of a message whose completion it has read, and all of the next one', async () => {
  const { contextId, tenantId } = await the.context();
  const { db } = the.database;
  const feed = new ContextFeed(tenantId, contextId, {
    db,
    interest: new InterestPublisher(localBus()),
    pace: new Pace(),
    onResync: () => undefined,
  });
  const before = await readHead(db, tenantId, contextId);
  if (before === null) throw new Error('there is a context');
  feed.takeHead(before);
  const early = recordingSubscriber();
  feed.attach(early, before.headSeq);
  const of: AnswerId = {
    jobId: ids.next<JobId>(),
    messageId: ids.next<MessageId>(),
    attempt: 1,
    epoch: before.epoch,
  };
  feed.takeFrame({ kind: 'began', of, at: 0 });
  feed.takeFrame({ kind: 'delta', of, channel: 'text', delta: 'so', sequence: 0 });
  await expect.poll(() => names(early)).toEqual(['StateChanged', 'ContentDelta']);

  const seq = before.headSeq + 1;
  await the.rows(`insert into messages (id, tenant_id, context_id, branch, seq, role, type, turn, status, content)
    values ('${of.messageId}', '${tenantId}', '${contextId}', 'main', ${seq}, 'assistant', 'text', 'a1', 'completed',
      '[{"type": "text", "text": "so far"}]')`);
  await the.rows(`update contexts set head_seq = ${seq} where id = '${contextId}'`);
  const late = recordingSubscriber();
  feed.attach(late, seq);
  feed.takeFrame({ kind: 'delta', of, channel: 'text', delta: ' far', sequence: 1 });
  await expect.poll(() => names(early)).toContain('MessageCompleted');
  expect(late.received).toEqual([]);

  const next = { ...of, messageId: ids.next<MessageId>() };
  feed.takeFrame({ kind: 'began', of: next, at: 0 });
  await expect.poll(() => names(late)).toEqual(['StateChanged']);
  feed.end();
});
