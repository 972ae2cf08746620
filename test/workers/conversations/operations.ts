// The operations on a conversation, drawn from a seed. The target of an operation is a number that is resolved when its
// turn comes, so that any part of a sequence is a sequence too.
import { DELIVERIES, type Delivery } from '../../../src/commands/inputs/posted-input.ts';
import type { CompactorType } from '../../../src/core/compaction/type.ts';
import { INTERRUPT_MODES, type InterruptMode } from '../../../src/core/run/job.ts';
import { oneOf, seeded, type Random } from '../../db/interleaving/scheduler.ts';

/** `look` may be repeated, `mail` may not, `ask_user` is answered by a person and `locate` by the client. */
export const TOOLS = ['look', 'mail', 'ask_user', 'locate'] as const;
export type Tool = (typeof TOOLS)[number];

/** One model call: its result, and whether it, or the tools it calls, are paused until released. */
export type Round = { calls: Tool[]; how: 'say' | 'pause' | 'fail'; pause: 'model' | 'tools' | null };

/** The answers of the model for a job, call by call; then an answer without calls. */
export type Plan = Round[];

type Job = { plan: Plan; maxSteps: number | null };

export type Operation =
  | ({ kind: 'post'; branch: number | null; delivery: Delivery } & Job)
  | ({ kind: 'retry'; branch: number | null } & Job)
  | ({ kind: 'edit' | 'regenerate'; message: number; name: string | null; delivery: Delivery } & Job)
  /** Releases the paused call, else runs what is runnable; up to the next pause or wait. */
  | { kind: 'go' }
  | { kind: 'answer'; call: number }
  | { kind: 'interrupt'; mode: InterruptMode }
  | { kind: 'cancel'; job: number }
  | { kind: 'branch'; name: string; from: number | null; message: number | null; activate: boolean }
  | { kind: 'switch' | 'delete'; branch: number }
  | { kind: 'clear' }
  /** `how`: the model's response to the request for a summary. */
  | { kind: 'compact'; type: CompactorType; keepTurns: number; how: 'say' | 'fail'; isPaused: boolean };

const SHORTEST = 10;
const LONGEST = 30;

/** Names of branches: few, so that they are used again. */
const NAMES = ['a', 'b', 'c', 'main'];

export function sequenceOf(seed: number): Operation[] {
  const random = seeded(seed);
  const length = SHORTEST + Math.floor(random() * (LONGEST - SHORTEST + 1));
  return Array.from({ length }, () => draw(random));
}

/** How often each is drawn, of all together. */
const SHARES: [share: number, draw: (random: Random) => Operation][] = [
  [
    8,
    (random) => ({
      kind: 'post',
      branch: perhaps(random, 0.4, pick),
      delivery: deliveryOf(random),
      ...job(random),
    }),
  ],
  [10, () => ({ kind: 'go' })],
  [3, (random) => ({ kind: 'interrupt', mode: oneOf(random, INTERRUPT_MODES) })],
  [1, (random) => ({ kind: 'cancel', job: pick(random) })],
  [
    4,
    (random) => ({
      kind: 'branch',
      name: oneOf(random, NAMES),
      from: perhaps(random, 0.5, pick),
      message: perhaps(random, 0.7, pick),
      activate: random() < 0.4,
    }),
  ],
  [2, (random) => revision(random, 'edit')],
  [2, (random) => revision(random, 'regenerate')],
  [1, (random) => ({ kind: 'retry', branch: perhaps(random, 0.5, pick), ...job(random) })],
  [2, (random) => ({ kind: 'switch', branch: pick(random) })],
  [2.5, (random) => ({ kind: 'delete', branch: pick(random) })],
  [1, () => ({ kind: 'clear' })],
  [2, (random) => ({ kind: 'answer', call: pick(random) })],
  [
    5,
    (random) => ({
      kind: 'compact',
      type: random() < 0.7 ? 'llm' : 'threshold',
      keepTurns: oneOf(random, [1, 1, 2]),
      how: random() < 0.1 ? 'fail' : 'say',
      isPaused: random() < 0.6,
    }),
  ],
];

function draw(random: Random): Operation {
  let left = random() * SHARES.reduce((sum, [share]) => sum + share, 0);
  for (const [share, drawn] of SHARES) {
    left -= share;
    if (left < 0) return drawn(random);
  }
  return { kind: 'go' };
}

function revision(random: Random, kind: 'edit' | 'regenerate'): Operation {
  const delivery = random() < 0.8 ? 'queue' : oneOf(random, ['interrupt', 'reject'] as const);
  return {
    kind,
    message: pick(random),
    name: perhaps(random, 0.3, () => oneOf(random, NAMES)),
    delivery,
    ...job(random),
  };
}

function deliveryOf(random: Random): Delivery {
  return random() < 0.6 ? 'queue' : oneOf(random, DELIVERIES);
}

function job(random: Random): Job {
  const rounds = oneOf(random, [0, 0, 1, 1, 1, 2, 3]);
  return {
    plan: [...Array.from({ length: rounds }, () => round(random)), last(random)],
    maxSteps: random() < 0.1 ? 1 + Math.floor(random() * 2) : null,
  };
}

function round(random: Random): Round {
  const calls = TOOLS.filter(() => random() < 0.35);
  const how = calls.length === 0 ? 'pause' : 'say';
  return { calls, how, pause: oneOf(random, ['model', 'tools', null, null, null]) };
}

function last(random: Random): Round {
  return { calls: [], how: random() < 0.1 ? 'fail' : 'say', pause: oneOf(random, ['model', null, null]) };
}

function pick(random: Random): number {
  return Math.floor(random() * 1_000);
}

function perhaps<T>(random: Random, share: number, drawn: (random: Random) => T): T | null {
  return random() < share ? drawn(random) : null;
}

/** The shortest part of a sequence, by leaving operations out, that still fails. */
export async function shrink(
  operations: readonly Operation[],
  fails: (part: readonly Operation[]) => Promise<boolean>,
): Promise<readonly Operation[]> {
  let least = operations;
  for (let size = Math.ceil(least.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < least.length;) {
      const part = [...least.slice(0, from), ...least.slice(from + size)];
      if (await fails(part)) least = part;
      else from += size;
    }
  }
  return least;
}
