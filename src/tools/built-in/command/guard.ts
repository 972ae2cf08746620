/**
 * Ends a command that takes more than it may: memory and processes of all that it started, bytes on disk in its workspace.
 * Looks again and again while it runs; what a runner limits by itself is not looked at here.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { treeOf } from './process-tree.ts';

export type Excess = 'memory' | 'processes' | 'disk';

/** `isFull`: whether the workspace holds more than it may. Null: not looked at. */
export type Bounds = {
  tree: { memoryBytes: number; processes: number } | null;
  isFull: ((signal: AbortSignal) => Promise<boolean>) | null;
};

const TREE_EVERY_MS = 250;
const DISK_EVERY_MS = 1_000;
/** A look at a large workspace takes at most such a part of the time. */
const DISK_SHARE = 0.1;

export class Guard {
  readonly #bounds: Bounds;
  readonly #over = new AbortController();
  readonly #done = new AbortController();
  #excess: Excess | null = null;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  /** Aborted once there was too much of something. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  get excess(): Excess | null {
    return this.#excess;
  }

  /** `pid`: of the first process. */
  watch(pid: number): void {
    const { tree, isFull } = this.#bounds;
    if (tree !== null) void this.#repeat(TREE_EVERY_MS, 0, () => overOf(pid, tree));
    if (isFull !== null)
      void this.#repeat(DISK_EVERY_MS, DISK_SHARE, async (signal) =>
        (await isFull(signal)) ? 'disk' : null,
      );
  }

  end(): void {
    this.#done.abort();
  }

  /** `share`: of the time that looking may take; 0: whatever it takes. What fails is tried again. */
  async #repeat(everyMs: number, share: number, look: (signal: AbortSignal) => Promise<Excess | null>) {
    const { signal } = this.#done;
    let pause = everyMs;
    while (this.#excess === null) {
      await wait(pause, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      const began = performance.now();
      const found = await look(signal).catch(() => null);
      if (signal.aborted) return;
      if (found !== null) {
        this.#excess ??= found;
        this.#over.abort();
      }
      pause = share === 0 ? everyMs : Math.max(everyMs, (performance.now() - began) / share);
    }
  }
}

async function overOf(
  pid: number,
  { memoryBytes, processes }: NonNullable<Bounds['tree']>,
): Promise<Excess | null> {
  const tree = await treeOf(pid);
  if (tree.processes > processes) return 'processes';
  return tree.memoryBytes > memoryBytes ? 'memory' : null;
}
