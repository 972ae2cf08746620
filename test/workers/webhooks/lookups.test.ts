// DNS lookups for receivers: few at a time, in turn for tenants, and none for an attempt that has ended.
import { expect, test } from 'vitest';
import type { TenantId } from '../../../src/core/ids.ts';
import { Lookups } from '../../../src/webhooks/lookups.ts';

const tenant = (id: number) => id as TenantId;
const never = new AbortController().signal;

/** Lookups that end when the test says so. */
function rig() {
  const lookups = new Lookups();
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const run = async (id: number, name: string, signal = never) =>
    lookups.run(tenant(id), signal, async () => {
      begun.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
      return name;
    });
  return { begun, run, end: (name: string) => ends.get(name)?.() };
}

test('two run at a time, one of a tenant', async () => {
  const { begun, run, end } = rig();
  const all = [run(1, 'a1'), run(1, 'a2'), run(2, 'b1'), run(3, 'c1')];
  await expect.poll(() => begun).toEqual(['a1', 'b1']);
  end('b1');
  // That of a tenant that has none.
  await expect.poll(() => begun).toEqual(['a1', 'b1', 'c1']);
  end('a1');
  await expect.poll(() => begun).toEqual(['a1', 'b1', 'c1', 'a2']);
  end('c1');
  end('a2');
  expect(await Promise.all(all)).toEqual(['a1', 'a2', 'b1', 'c1']);
});

test('one whose attempt ended does not begin, and one that fails makes room', async () => {
  const { begun, run, end } = rig();
  const first = run(1, 'a1');
  const aborting = new AbortController();
  const second = run(1, 'a2', aborting.signal);
  aborting.abort(new Error('too late'));
  await expect(second).rejects.toThrow('too late');
  end('a1');
  await first;
  expect(begun).toEqual(['a1']);
  const lookups = new Lookups();
  const fails = () => Promise.reject(new Error('no such name'));
  await expect(lookups.run(tenant(1), never, fails)).rejects.toThrow('no such name');
  expect(await lookups.run(tenant(1), never, async () => 'found')).toBe('found');
});
