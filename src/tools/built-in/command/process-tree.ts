/** The resources of a command's process tree, from Linux `/proc`. On other systems, all values are zero. */
import { readFile, readdir } from 'node:fs/promises';

/** `memoryBytes`: resident memory; shared pages count for each process. */
type Tree = { processes: number; memoryBytes: number };

type Found = { pid: number; parent: number; group: number; bytes: number };

/** The process `pid`, its descendants, and the processes of its group whose parents have ended. */
export async function treeOf(pid: number): Promise<Tree> {
  const all = await everyProcess();
  const childrenOf = Map.groupBy(all, ({ parent }) => parent);
  const tree = new Set(all.filter((one) => one.pid === pid || one.group === pid));
  // Iteration over a set includes the elements that are added meanwhile.
  for (const one of tree) for (const child of childrenOf.get(one.pid) ?? []) tree.add(child);
  return { processes: tree.size, memoryBytes: [...tree].reduce((sum, { bytes }) => sum + bytes, 0) };
}

async function everyProcess(): Promise<Found[]> {
  const names = await readdir('/proc').catch(() => []);
  const found = await Promise.all(names.filter((name) => /^\d+$/.test(name)).map(look));
  return found.filter((one) => one !== null);
}

/** Null: the process has ended. A zombie has no memory. */
async function look(pid: string): Promise<Found | null> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => null);
  if (text === null) return null;
  const [parent, group, kilobytes] = [/^PPid:\s*(\d+)/m, /^NSpgid:\s*(\d+)/m, /^VmRSS:\s*(\d+)/m].map((member) =>
    Number(member.exec(text)?.[1] ?? 0),
  );
  return { pid: Number(pid), parent: parent ?? 0, group: group ?? 0, bytes: (kilobytes ?? 0) * 1_024 };
}
