// The critical path of a job, and where its time went.
import { expect, test } from 'vitest';
import { LATER, criticalPath } from '../../web/src/pages/job/timeline/rows/critical-path.ts';
import { extentOf, type Row } from '../../web/src/pages/job/timeline/rows/rows.ts';
import type { Stretch } from '../../web/src/pages/job/timeline/rows/stretches.ts';
import { spentUntil, timeSpent } from '../../web/src/pages/job/timeline/rows/time-spent.ts';
import { shownRows, type Branches } from '../../web/src/pages/job/timeline/rows/tree.ts';
import { step, usage, at } from './rig/steps.ts';

const NONE: Branches = new Map();

type Of = [kind: Stretch['kind'], from: number, to: number | null];

/** A row of these stretches. */
function row(id: string, ...of: Of[]): Row {
  const stretches = of.map(([kind, from, to]): Stretch => ({ kind, from, to }));
  const [from, to] = [stretches[0]?.from ?? 0, stretches.at(-1)?.to ?? null];
  return { id, name: id, status: 'completed', from, to, stretches, kind: 'step', step: step({}), failed: [] };
}

function child(id: string, from: number, to: number | null): Row {
  const job = {
    job_id: id,
    context_id: `${id} c`,
    worker_id: `${id} w`,
    name: id,
    status: 'completed' as const,
    usage,
    created_at: at(from),
    started_at: at(from),
    finished_at: to === null ? null : at(to),
  };
  const stretches: Stretch[] = [{ kind: 'child', from, to }];
  return { id, name: id, status: 'completed', from, to, stretches, kind: 'child', job };
}

/** The path as text, from the beginning. */
function path(rows: readonly Row[], branches = NONE): string[] {
  const parts = [...criticalPath('j', rows, branches)].flatMap(([key, of]) =>
    of.map(({ from, to }) => ({ text: `${key} ${from}-${to}`, from })),
  );
  return parts.toSorted((one, other) => one.from - other.from).map(({ text }) => text);
}

test('of calls at the same time, the one that ended last is on the path', () => {
  const rows = [
    row('a', ['model', 0, 10]),
    row('b', ['tool', 10, 30]),
    row('c', ['tool', 10, 40]),
    row('d', ['model', 41, 50]),
  ];
  expect(path(rows)).toEqual(['j a 0-10', 'j c 10-40', 'j d 41-50']);
});

test('while a call waits for workers, the one that ended last is on the path, and its steps if they are known', () => {
  const rows = [
    row('a', ['model', 0, 10]),
    row('b', ['workers', 10, 30]),
    child('quick', 11, 20),
    row('c', ['workers', 10, 60]),
    child('slow', 12, 58),
    row('d', ['model', 60, 70]),
  ];
  expect(path(rows)).toEqual(['j a 0-10', 'j slow 12-58', 'j c 58-60', 'j d 60-70']);
  const below = [row('x', ['model', 14, 20]), row('y', ['tool', 20, 40]), row('z', ['model', 40, 57])];
  const known = path(rows, new Map([['slow', { kind: 'loaded', rows: below }]]));
  expect(known).toEqual([
    'j a 0-10',
    'j slow 12-58',
    'slow x 14-20',
    'slow y 20-40',
    'slow z 40-57',
    'j c 58-60',
    'j d 60-70',
  ]);
});

test('a worker that its parent does not wait for is not on the path, however long it runs', () => {
  const rows = [
    row('a', ['model', 0, 10]),
    row('b', ['tool', 10, 11]),
    child('aside', 11, 500),
    row('c', ['model', 11, 20]),
  ];
  expect(path(rows)).toEqual(['j a 0-10', 'j b 10-11', 'j c 11-20']);
});

test('the path of a job in progress ends with what goes on', () => {
  const rows = [row('a', ['model', 0, 10]), row('b', ['tool', 10, null]), row('c', ['tool', 10, 12])];
  expect(path(rows)).toEqual(['j a 0-10', `j b 10-${LATER}`]);
});

test('a call that began a little before its answer was complete follows it; one that goes on is not the cause', () => {
  const eager = [row('a', ['model', 0, 12]), row('b', ['tool', 10, 30])];
  expect(path(eager)).toEqual(['j a 0-10', 'j b 10-30']);
  const beside = [
    row('a', ['model', 0, 10]),
    row('b', ['tool', 10, 20]),
    row('long', ['tool', 5, 80]),
    row('c', ['tool', 21, 90]),
  ];
  expect(path(beside)).toEqual(['j a 0-10', 'j b 10-20', 'j c 21-90']);
});

test('a worker that was spawned long before its parent waits for it is on the path from its beginning', () => {
  const rows = [
    row('a', ['model', 0, 10]),
    child('early', 10, 58),
    row('b', ['model', 11, 40]),
    row('c', ['workers', 40, 60]),
    row('d', ['model', 60, 70]),
  ];
  expect(path(rows)).toEqual(['j a 0-10', 'j early 10-58', 'j c 58-60', 'j d 60-70']);
});

test('a path ends with the last row, and its parts never overlap', () => {
  // Deterministic numbers, so that a failure can be repeated.
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed % below;
  };
  for (let round = 0; round < 300; round += 1) {
    const rows = Array.from({ length: 1 + random(12) }, (_, n) => {
      const from = random(100);
      const to = from + 1 + random(40);
      if (random(4) === 0) return child(`k${n}`, from, to);
      return row(`r${n}`, [random(4) === 0 ? 'workers' : 'tool', from, to]);
    });
    const parts = [...criticalPath('j', rows, NONE).values()].flat().toSorted((one, other) => one.from - other.from);
    const own = rows.filter(({ kind }) => kind !== 'child');
    if (own.length > 0) expect(parts.at(-1)?.to, `round ${round}`).toBe(extentOf(own, 0).to);
    for (const [n, part] of parts.entries()) {
      expect(part.from).toBeLessThan(part.to);
      expect(part.from, `round ${round}`).toBeGreaterThanOrEqual(parts[n - 1]?.to ?? 0);
    }
  }
});

test('each moment counts once, and the parts add up to the whole', () => {
  const rows = [
    row('q', ['queue', 0, 5]),
    row('a', ['failed', 5, 8], ['throttle', 8, 20], ['first', 20, 22], ['model', 22, 30]),
    row('b', ['approval', 30, 50], ['queue', 50, 51], ['tool', 51, 60]),
    row('c', ['tool', 30, 40]),
    row('d', ['workers', 60, 90]),
    child('k', 60, 300),
    row('e', ['model', 92, 100]),
  ];
  const spent = spentUntil(timeSpent(rows), 0);
  expect(spent).toEqual([
    { on: 'model', ms: 18 },
    { on: 'tools', ms: 19 },
    { on: 'failed', ms: 3 },
    { on: 'throttled', ms: 12 },
    { on: 'people', ms: 10 },
    { on: 'workers', ms: 30 },
    { on: 'queue', ms: 6 },
    { on: 'other', ms: 2 },
  ]);
  expect(spent.reduce((sum, { ms }) => sum + ms, 0)).toBe(100);
});

test('what goes on counts until now, and is not counted again as time passes', () => {
  const spent = timeSpent([row('a', ['model', 0, 10]), row('b', ['approval', 10, null]), row('c', ['tool', 10, 15])]);
  expect(spentUntil(spent, 40)).toEqual([
    { on: 'model', ms: 10 },
    { on: 'tools', ms: 5 },
    { on: 'people', ms: 25 },
  ]);
  expect(spentUntil(spent, 50).at(-1)).toEqual({ on: 'people', ms: 35 });
});

test('the rows of an open child come below it, to any depth; those of others are not shown', () => {
  const branches: Branches = new Map([
    ['one', { kind: 'loaded', rows: [row('x', ['model', 2, 3]), child('two', 3, 9)] }],
    ['two', { kind: 'loaded', rows: [] }],
    ['shut', { kind: 'loaded', rows: [row('y', ['model', 2, 3])] }],
    ['broken', { kind: 'failed', error: null }],
  ]);
  const rows = [row('a', ['model', 0, 1]), child('one', 1, 10), child('shut', 1, 10), child('broken', 1, 10)];
  const shown = shownRows('j', rows, new Set(['one', 'two', 'broken']), branches);
  expect(shown.map((one) => `${one.level} ${one.kind === 'note' ? one.note : one.row.id}`)).toEqual([
    '1 a',
    '1 one',
    '2 x',
    '2 two',
    '3 empty',
    '1 shut',
    '1 broken',
    '2 failed',
  ]);
  expect(new Set(shown.map(({ key }) => key)).size).toBe(shown.length);
});

test('ten thousand rows and five hundred children take a moment', () => {
  const rows = Array.from({ length: 10_000 }, (_, n) => row(`r${n}`, ['first', n, n + 1], ['model', n + 1, n + 3]));
  const children = Array.from({ length: 500 }, (_, n) => [
    row(`w${n}`, ['workers', 10_000, 20_000 + n]),
    child(`k${n}`, 10_000, 20_000 + n),
  ]).flat();
  const began = process.cpuUsage();
  expect(path([...rows, ...children]).length).toBeGreaterThan(1_000);
  expect(timeSpent([...rows, ...children]).known.map(({ on }) => on)).toEqual(['model', 'workers']);
  // A frame on an idle machine. Other processes do not count.
  const { user, system } = process.cpuUsage(began);
  expect((user + system) / 1_000).toBeLessThan(1_000);
});
