// Many questions without an answer, a thousand at full depth: they occupy no slot, and no sweep changes or reads them
// again and again.
import { afterEach, expect, test } from 'vitest';
import type { ContextId, JobId } from '../../../src/core/ids.ts';
import { depth } from '../../services/depth.ts';
import { isClaim, tagOf } from '../../services/statements.ts';
import { result, says, startFleet, transcript, type Fleet } from '../worker-fleet.ts';

const MANY = depth(300, 1_000);
const SWEEPS = 6;

let fleet: Fleet | null = null;
afterEach(async () => {
  await fleet?.close();
  fleet = null;
});

test('many waiting contexts cost their rows, and nothing else', { timeout: 180_000 }, async () => {
  const statements: string[] = [];
  const of = (fleet = await startFleet({
    concurrency: 8,
    hook: (text) => void statements.push(text),
    tools: { ask_user: { answered_by: 'person', execute: () => result('never') } },
    model: ({ messages }) =>
      messages.at(-1)?.content.some((block) => block.type === 'tool_result') === true
        ? says('thanks')
        : says('', { name: 'ask_user', input: { question: 'Which?' } }),
  }));
  const posted: { contextId: ContextId; jobId: JobId }[] = [];
  for (let left = MANY; left > 0; left -= 50) {
    const batch = Array.from({ length: 50 }, async () => {
      const { contextId } = await of.createContext();
      return of.post(contextId, 'go');
    });
    posted.push(...(await Promise.all(batch)));
  }
  const waiting = `select id, xmin, lease_epoch, wake_seq from contexts
    where scheduling_status = 'waiting' and state = 'AwaitingInput' and lease_owner is null order by id`;
  await of.until(async () => (await of.query(waiting)).length === MANY);
  await of.until(() => of.processes[0]?.running() === 0);

  const before = await of.query(waiting);
  const isSweep = (text: string) => tagOf(text) === 'contexts.take_due';
  // Wake-ups that sweeps were ahead of may still arrive, each once: they find nothing to claim.
  await of.until(async () => {
    statements.splice(0);
    await of.until(() => statements.filter(isSweep).length >= SWEEPS);
    return !statements.some(isClaim);
  });
  expect(await of.query(waiting)).toEqual(before);
  // Neither messages nor calls were read, except by the search, and for waits that ended: nothing was claimed.
  const ofRuns = statements.filter(
    (text) =>
      !['search.index_backlog', 'schedules.find_due', 'contexts.wake', 'contexts.wake_missed'].includes(
        tagOf(text) ?? '',
      ),
  );
  expect(ofRuns.filter((text) => /from (?:messages|tool_calls)/.test(text))).toEqual([]);
  const [one] = posted;
  if (one === undefined) throw new Error('No input was posted.');
  expect((await of.post(one.contextId, 'this')).jobId).toBe(one.jobId);
  await of.ended(one.jobId);
  expect(transcript(await of.history(one.contextId)).at(-1)).toBe('a1 assistant: thanks');
  expect(await of.query(waiting)).toEqual(before.filter(({ id }) => id !== one.contextId));
});
