// Walks through a workspace that are aborted on the way: deep trees, wide ones, and one very wide directory.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { removed } from '../../src/tools/built-in/files/remove.ts';
import { entriesIn, survey, usage } from '../../src/tools/built-in/files/survey.ts';
import { openFolder, type Folder } from '../../src/tools/built-in/files/walk.ts';
import { temporaryFolder } from './built-in-runner.ts';

const MOST = 100_000;

let base: Awaited<ReturnType<typeof temporaryFolder>>;
let folder: Folder;
beforeEach(async () => {
  base = await temporaryFolder();
  folder = await openFolder(base.path, []);
});
afterEach(async () => {
  await folder.handle.close();
  await base.remove();
});

/** Aborted at the n-th check of its signal: in the middle of a walk, however fast the machine is. */
function abortedAt(checks: number): { signal: AbortSignal; checks: () => number } {
  const abort = new AbortController();
  const { signal } = abort;
  const check = vi.spyOn(signal, 'throwIfAborted').mockImplementation(() => {
    if (check.mock.calls.length === checks) abort.abort(new Error('given up'));
    if (signal.aborted) throw signal.reason;
  });
  return { signal, checks: () => check.mock.calls.length };
}

/** 30 directories with 20 files each, below one another or side by side. */
function tree(kind: 'deep' | 'wide'): void {
  let at = path.join(base.path, 'd');
  for (let left = 30; left > 0; left -= 1) {
    mkdirSync(at, { recursive: true });
    for (let files = 20; files > 0; files -= 1) writeFileSync(path.join(at, `f${files}`), 'x');
    at = kind === 'deep' ? path.join(at, 'd') : path.join(base.path, 'd', `d${left}`);
  }
}

function oneWideDirectory(): void {
  mkdirSync(path.join(base.path, 'd'));
  for (let files = 500; files > 0; files -= 1) writeFileSync(path.join(base.path, 'd', `f${files}`), 'x');
}

describe.each(['deep', 'wide'] as const)('over a %s tree, aborted on the way,', (kind) => {
  beforeEach(() => tree(kind));

  test('a survey visits nothing more', async () => {
    const abort = new AbortController();
    const visited: string[] = [];
    const walk = survey({ root: base.path, names: [], most: MOST, signal: abort.signal }, async ({ at }) => {
      visited.push(at.join('/'));
      if (visited.length === 10) abort.abort(new Error('given up'));
      return true;
    });
    await expect(walk).rejects.toThrow('given up');
    expect(visited).toHaveLength(10);
  });

  test('counting ends at once', async () => {
    const { signal, checks } = abortedAt(100);
    await expect(usage(base.path, MOST, signal)).rejects.toThrow('given up');
    expect(checks()).toBe(100);
  });

  test('removing leaves the rest', async () => {
    const before = readdirSync(base.path, { recursive: true }).length;
    const { signal, checks } = abortedAt(100);
    await expect(removed({ folder, name: 'd', at: 'd' }, true, signal)).rejects.toThrow('given up');
    const after = readdirSync(base.path, { recursive: true }).length;
    expect(checks()).toBe(100);
    expect([after > 0, before - after <= 100]).toEqual([true, true]);
  });
});

describe('in one very wide directory', () => {
  beforeEach(oneWideDirectory);

  test.each([100, 600])('counting ends at once, at the check %i', async (at) => {
    const { signal, checks } = abortedAt(at);
    await expect(usage(base.path, MOST, signal)).rejects.toThrow('given up');
    expect(checks()).toBe(at);
  });

  test.each([100, 600])('listing ends at once, at the check %i', async (at) => {
    const { signal, checks } = abortedAt(at);
    const inner = await openFolder(base.path, ['d']);
    await expect(entriesIn(inner, MOST, signal)).rejects.toThrow('given up');
    expect(checks()).toBe(at);
    await inner.handle.close();
  });

  test('removing has deleted nothing when it is aborted while names are read', async () => {
    const { signal } = abortedAt(400);
    await expect(removed({ folder, name: 'd', at: 'd' }, true, signal)).rejects.toThrow('given up');
    expect(readdirSync(path.join(base.path, 'd'))).toHaveLength(500);
  });

  test('entries are returned in the order of their names, up to the limit', async () => {
    const inner = await openFolder(base.path, ['d']);
    const { entries, more } = await entriesIn(inner, 3, new AbortController().signal);
    expect([entries.map(({ name }) => name), more]).toEqual([['f1', 'f10', 'f100'], true]);
    await inner.handle.close();
  });
});
