// Between the mark of a `once` call and its beginning.
import { expect, test } from 'vitest';
import type { ToolCallId } from '../../src/core/ids.ts';
import { play, type Rig } from './rig.ts';

/** The call that is marked and has not started. */
function markedOnly({ store, begun }: Rig): ToolCallId | null {
  const call = store.current.calls.find(
    ({ id, status }) => status === 'started' && !begun.some((known) => known.id === id),
  );
  return call?.id ?? null;
}

test('a stop request between mark and start keeps the call from starting, and it is known not to have run', async () => {
  let marked: ToolCallId | null = null;
  const rig = await play({
    at: ({ port, rig: of, signals }) => {
      if (port !== 'after an append' || marked !== null) return;
      marked = markedOnly(of);
      if (marked === null) return;
      of.store.cancel();
      signals.notify();
    },
  });
  expect(marked).not.toBeNull();
  expect(rig.begun.map(({ id }) => id)).not.toContain(marked);
  expect(rig.store.transcript().filter((line) => line.includes('←Cancelled before it ran.'))).toHaveLength(1);
  expect([...rig.store.outcomes.values()]).toMatchObject([{ status: 'cancelled' }]);
});

test('a control signal without a stop request does not keep it from starting', async () => {
  let marked: ToolCallId | null = null;
  const rig = await play({
    at: ({ port, rig: of, signals }) => {
      if (port !== 'after an append' || marked !== null) return;
      marked = markedOnly(of);
      if (marked !== null) signals.notify();
    },
  });
  expect(rig.begun.filter(({ id }) => id === marked)).toHaveLength(1);
  expect([...rig.store.outcomes.values()]).toMatchObject([{ status: 'completed' }]);
});

test('a mark in doubt that turns out to be written: the call is not started, and the model is informed', async () => {
  let rig: Rig | null = null;
  let marked: ToolCallId | null = null;
  const played = await play({
    at: (portCall) => void (rig = portCall.rig),
    outcome: async (_, commit) => {
      const outcome = await commit();
      if (rig === null || marked !== null) return outcome;
      marked = markedOnly(rig);
      return marked === null ? outcome : { kind: 'in_doubt' };
    },
  });
  expect(marked).not.toBeNull();
  expect(played.begun.map(({ id }) => id)).not.toContain(marked);
  expect(played.store.transcript().filter((line) => line.includes('outcome unknown'))).toHaveLength(1);
  expect([...played.store.outcomes.values()]).toMatchObject([{ status: 'completed' }]);
});
