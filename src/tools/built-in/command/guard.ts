/**
 * Stops a command that exceeds its limits: memory and number of processes of its process tree, disk usage of its
 * workspace. Polls while the command runs. Limits that a runner enforces itself are not polled here.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { treeOf } from './process-tree.ts';

export type Excess = 'memory' | 'processes' | 'disk';

/** `tree` null: not checked. `isFull`: whether the workspace exceeds its quota. */
type Bounds = {
  tree: { memoryBytes: number; processes: number } | null;
  isFull: (signal: AbortSignal) => Promise<boolean>;
};

const TREE_EVERY_MS = 250;
const DISK_EVERY_MS = 1_000;
/** Checking the disk usage takes at most this share of the time. */
const DISK_SHARE = 0.1;

export class Guard {
  readonly #bounds: Bounds;
  readonly #over = new AbortController();
  readonly #done = new AbortController();
  #excess: Excess | null = null;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  /** Aborted when a limit is exceeded. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  get excess(): Excess | null {
    return this.#excess;
  }

  /** `pid`: the first process of the command. */
  watch(pid: number): void {
    const { tree, isFull } = this.#bounds;
    if (tree !== null) void this.#repeat(TREE_EVERY_MS, 0, () => overOf(pid, tree));
    void this.#repeat(DISK_EVERY_MS, DISK_SHARE, async (signal) => ((await isFull(signal)) ? 'disk' : null));
  }

  end(): void {
    this.#done.abort();
  }

  /** `share`: the maximum share of time spent checking; 0: unlimited. A failed check is repeated. */
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

async function overOf(pid: number, { memoryBytes, processes }: NonNullable<Bounds['tree']>): Promise<Excess | null> {
  const tree = await treeOf(pid);
  if (tree.processes > processes) return 'processes';
  return tree.memoryBytes > memoryBytes ? 'memory' : null;
}
