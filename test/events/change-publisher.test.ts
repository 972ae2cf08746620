// When changes are published, and how those that follow a tenant keep them wanted.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { changes, changesWanted, type Bus, type Change } from '../../src/bus/bus.ts';
import { withChanges } from '../../src/bus/change-publisher.ts';
import { WHOLE_TENANT, type Reach } from '../../src/core/access/reach.ts';
import type { User } from '../../src/core/access/user.ts';
import { DEFAULT_TENANT, type ContextId, type TenantId } from '../../src/core/ids.ts';
import type { StreamEvent } from '../../src/core/stream/stream-event.ts';
import type { Executor } from '../../src/db/connection/client.ts';
import { TenantChanges } from '../../src/events/tenant-changes.ts';
import { id } from '../core/builders.ts';

type Handler = (message: object) => void;

let published: { channel: string; message: object }[];
let handlers: Map<string, Set<Handler>>;
let bus: Bus;

beforeEach(() => {
  vi.useFakeTimers();
  published = [];
  handlers = new Map();
  bus = withChanges({
    publish(channel, message) {
      published.push({ channel: channel.name, message });
      for (const handle of handlers.get(channel.name) ?? []) handle(message);
    },
    async subscribe(channel, handle) {
      const all = handlers.get(channel.name) ?? new Set();
      // Only messages of the channel's own type are published on it.
      handlers.set(channel.name, all.add(handle as Handler));
      return () => void all.delete(handle as Handler);
    },
    onLost: () => () => undefined,
    close: async () => undefined,
  });
});
afterEach(() => vi.useRealTimers());

const told = (): Change[] =>
  published.flatMap(({ channel, message }) => (channel === changes().name ? [message as Change] : []));
const wanted = (): number => published.filter(({ channel }) => channel === changesWanted().name).length;
const context = (n: number): ContextId => id<ContextId>(n);

test('a process that has just started publishes changes until it can have heard whether they are wanted', async () => {
  bus.changed.context(context(1));
  await vi.advanceTimersByTimeAsync(5_000);
  bus.changed.context(context(2));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(told()).toEqual([{ kind: 'contexts', contextIds: [context(1)] }]);
});

test('changes are published only while they are wanted, and contexts once for each short time', async () => {
  await vi.advanceTimersByTimeAsync(5_000);
  bus.changed.context(context(1));
  bus.changed.resource(DEFAULT_TENANT, 'roles');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(told()).toEqual([]);
  bus.publish(changesWanted(), { forMs: 10_000 });
  for (const n of [1, 2, 1]) bus.changed.context(context(n));
  bus.changed.resource(DEFAULT_TENANT, 'roles');
  await vi.advanceTimersByTimeAsync(200);
  expect(told()).toEqual([
    { kind: 'resource', tenantId: DEFAULT_TENANT, resource: 'roles' },
    { kind: 'contexts', contextIds: [context(1), context(2)] },
  ]);
  await vi.advanceTimersByTimeAsync(10_000);
  bus.changed.context(context(1));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(told()).toHaveLength(2);
});

test('more contexts than fit into one message make several', async () => {
  bus.publish(changesWanted(), { forMs: 10_000 });
  for (let n = 1; n <= 1_500; n += 1) bus.changed.context(context(n));
  await vi.advanceTimersByTimeAsync(200);
  expect(told().map((one) => (one.kind === 'contexts' ? one.contextIds.length : 0))).toEqual([1_000, 500]);
});

/** What PostgreSQL answers. */
type Rows = { id: ContextId; tenant: TenantId; user: string }[];

function openChanges(answer: () => Promise<Rows>): { following: TenantChanges; reads: () => number } {
  let reads = 0;
  const execute = (): Promise<Rows> => {
    reads += 1;
    return answer();
  };
  return { following: new TenantChanges({ execute } as unknown as Executor, bus), reads: () => reads };
}

const userReach = (user: string): Reach => ({ kind: 'user', user: user as User });

async function follow(following: TenantChanges, tenantId = DEFAULT_TENANT, reach = WHOLE_TENANT) {
  const joined = await following.join(tenantId, reach);
  const events: StreamEvent[] = [];
  let ended = false;
  joined.start({
    send: (some) => void events.push(...some),
    drained: async () => undefined,
    end: () => void (ended = true),
  });
  return { joined, data: () => events.map(({ data }) => data), ended: () => ended };
}

const ofDefault = async (): Promise<Rows> =>
  Array.from({ length: 200 }, (_, at) => ({ id: context(at + 1), tenant: DEFAULT_TENANT, user: '' }));

test('changes stay wanted while a client follows, and no longer', async () => {
  const { following } = openChanges(ofDefault);
  const [first, second] = [await follow(following), await follow(following)];
  await vi.advanceTimersByTimeAsync(30_000);
  const before = wanted();
  expect(before).toBeGreaterThanOrEqual(10);
  expect(before).toBeLessThan(13);
  first.joined.stop();
  first.joined.stop();
  await vi.advanceTimersByTimeAsync(6_000);
  expect(wanted()).toBe(before + 2);
  second.joined.stop();
  await vi.advanceTimersByTimeAsync(30_000);
  expect(wanted()).toBe(before + 2);
  expect(handlers.get(changes().name)?.size).toBe(0);
});

test('the owner of a context is read once; many contexts make an event without ids', async () => {
  const { following, reads } = openChanges(ofDefault);
  const mine = await follow(following);
  const others = await follow(following, (DEFAULT_TENANT + 1) as TenantId);
  for (let times = 0; times < 3; times += 1) {
    bus.changed.context(context(1));
    await vi.advanceTimersByTimeAsync(500);
  }
  expect(reads()).toBe(1);
  expect(mine.data()).toEqual([1, 2, 3].map(() => ({ resource: 'contexts', ids: [context(1)] })));
  for (let n = 1; n <= 101; n += 1) bus.changed.context(context(n));
  await vi.advanceTimersByTimeAsync(500);
  expect(mine.data().at(-1)).toEqual({ resource: 'contexts', ids: [] });
  expect(others.data()).toEqual([]);
});

test('writes are told together, and only those of contexts to a token', async () => {
  const { following } = openChanges(ofDefault);
  const [all, ann] = [await follow(following), await follow(following, DEFAULT_TENANT, userReach('ann'))];
  for (let times = 0; times < 500; times += 1) {
    bus.changed.resource(DEFAULT_TENANT, 'contexts');
    bus.changed.resource(DEFAULT_TENANT, 'roles');
    bus.changed.context(context(1));
  }
  await vi.advanceTimersByTimeAsync(1_000);
  expect(all.data()).toEqual([
    { resource: 'contexts', ids: [] },
    { resource: 'roles', ids: [] },
    { resource: 'contexts', ids: [context(1)] },
  ]);
  expect(ann.data()).toEqual([{ resource: 'contexts', ids: [] }]);
});

test('after lost messages clients read everything, and once more when all processes publish again', async () => {
  const { following } = openChanges(ofDefault);
  const one = await follow(following);
  const before = wanted();
  following.lost();
  following.lost();
  await vi.advanceTimersByTimeAsync(1_000);
  const everything = { resource: 'all', ids: [] };
  expect([one.data(), wanted()]).toEqual([[everything], before + 2]);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(one.data()).toEqual([everything, everything]);
});

test('owners that cannot be read are asked for again later, and no change is lost', async () => {
  let isAway = true;
  const { following, reads } = openChanges(async () => (isAway ? Promise.reject(new Error('away')) : ofDefault()));
  const one = await follow(following);
  bus.changed.context(context(1));
  bus.changed.resource(DEFAULT_TENANT, 'roles');
  await vi.advanceTimersByTimeAsync(5_000);
  expect(one.data()).toEqual([]);
  expect(reads()).toBeLessThanOrEqual(3);
  isAway = false;
  bus.changed.context(context(2));
  await vi.advanceTimersByTimeAsync(5_000);
  expect(one.data().flatMap(({ ids }) => ids)).toEqual([context(1), context(2)]);
  expect(one.data().map(({ resource }) => resource)).toContain('roles');
});

test('more owners than are remembered: those of the same batch are told', async () => {
  const everyone = async (): Promise<Rows> =>
    Array.from({ length: 20_000 }, (_, at) => ({ id: context(at + 2), tenant: DEFAULT_TENANT, user: '' }));
  let rows: () => Promise<Rows> = ofDefault;
  const { following } = openChanges(() => rows());
  const one = await follow(following);
  bus.changed.context(context(1));
  await vi.advanceTimersByTimeAsync(1_000);
  rows = everyone;
  bus.changed.context(context(1));
  bus.changed.context(context(300));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(one.data().at(-1)).toEqual({ resource: 'contexts', ids: [context(1), context(300)] });
});

test('closing ends the streams, and those that join later', async () => {
  const { following } = openChanges(ofDefault);
  const one = await follow(following);
  following.close();
  const later = await follow(following);
  expect([one.ended(), later.ended()]).toEqual([true, true]);
});
