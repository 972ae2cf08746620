// The pages of a long timeline: a change reads only those that may differ.
import { describe, expect, test } from 'vitest';
import type { JobStep } from '../../src/client/index.ts';
import { readStepPages, type StepPage } from '../../web/src/data/live/step-pages.ts';
import { at, step, usage } from './rig/steps.ts';

const PAGE = 2;

/** A call that gave a job to a child worker, without waiting for it. */
const spawned = (finished_at: string | null): JobStep =>
  step({
    kind: 'tool',
    tool_call_id: 'spawn',
    child: {
      job_id: 'below',
      context_id: 'c',
      worker_id: 'w',
      name: 'child',
      status: finished_at === null ? 'running' : 'completed',
      usage,
      created_at: at(0),
      started_at: at(0),
      finished_at,
    },
  });

const model = (name: string): JobStep => step({ name });
const open = step({ kind: 'tool', tool_call_id: 'open', ended_at: null });

/** Reads all steps as the API returns them; `read`: the cursors. */
async function readAll(steps: readonly JobStep[], known: readonly StepPage[]) {
  const read: string[] = [];
  const shown: number[] = [];
  const pages = await readStepPages(
    known,
    async (cursor = '0') => {
      read.push(cursor);
      const from = Number(cursor);
      const next = from + PAGE < steps.length ? String(from + PAGE) : null;
      return { steps: steps.slice(from, from + PAGE), next };
    },
    (more) => shown.push(more.flatMap((page) => page.steps).length),
  );
  expect(pages.flatMap((page) => page.steps)).toEqual(steps);
  return { pages, read, shown };
}

describe('the pages of a timeline that was read', () => {
  const later = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map(model);
  const before = [spawned(null), ...later];

  test('are read again only where a child has not ended, and at the end', async () => {
    const { pages, read } = await readAll(before, []);
    expect(read).toEqual(['0', '2', '4', '6']);
    const grown = [...before, model('h')];
    const next = await readAll(grown, pages);
    expect(next.read).toEqual(['0', '6', '8']);
    expect(next.pages[1]).toBe(pages[1]);
    const ended = [spawned(at(50)), ...grown.slice(1)];
    const last = await readAll(ended, next.pages);
    expect(last.read).toEqual(['0', '8']);
    expect((await readAll(ended, last.pages)).read).toEqual(['8']);
  });

  test('are read again from a call on that has not ended: it may move behind calls that began before it', async () => {
    const { pages } = await readAll([model('a'), open, ...later], []);
    const moved = [model('a'), ...later.slice(0, 3), { ...open, ended_at: at(90) }, ...later.slice(3)];
    expect((await readAll(moved, pages)).read).toEqual(['0', '2', '4', '6', '8']);
  });

  test('stay shown while the first of them are read again', async () => {
    const { pages } = await readAll(before, []);
    expect((await readAll(before, pages.slice(0, 3))).shown).toEqual([6]);
    expect((await readAll(before, [])).shown).toEqual([2, 4, 6]);
  });
});
