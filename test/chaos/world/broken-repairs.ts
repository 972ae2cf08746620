// What the operator, bulk retries and replays did in a sound world, how that is broken, and part of the expected violation.
import { word } from '../clients/inputs.ts';
import type { Operated } from './operated.ts';
import type { Batch, RepairJob, Repairs, Replay } from './repairs.ts';
import type { Struck, World } from './world.ts';

/** Paused from 100 to 200; its claims are before, after and of another process. */
export function soundOperated(): Operated {
  return {
    pauses: [{ process: 'worker-1', id: 'p-1', from: 100, to: 200 }],
    drains: [{ process: 'worker-2', id: 'p-2', code: 0, leases: 0, during: { from: 300, to: 400 } }],
    claims: [
      { owner: 'p-1', at: 90 },
      { owner: 'p-2', at: 150 },
      { owner: 'p-1', at: 210 },
    ],
    alive: [{ id: 'p-1', requested: 'running', status: 'running' }],
  };
}

/** Two failed jobs, one retried under each key; and one context that was replayed in both ways. */
export function soundRepairs(): Repairs {
  const job = (id: string, context: string, more: Partial<RepairJob>): RepairJob => ({
    id,
    context,
    kind: 'input',
    status: 'completed',
    tag: null,
    ...more,
  });
  const failed = { status: 'failed', tag: 'batch' };
  const texts = ['r-1', 'r-2'].flatMap((tag) => [`say: ${word(tag)}`, word(tag)]);
  return {
    batches: [
      {
        tag: 'batch',
        jobs: ['f-1', 'f-2'],
        isLost: true,
        differs: false,
        answers: [
          {
            key: 'a',
            retries: [
              { id: 'f-1', retry: 'again-1' },
              { id: 'f-2', retry: null },
            ],
          },
          {
            key: 'b',
            retries: [
              { id: 'f-1', retry: null },
              { id: 'f-2', retry: 'again-2' },
            ],
          },
        ],
      },
    ],
    replays: [
      { tag: 'r', kind: 'asked', contextId: 'r-c', forkId: 'fork-1', jobId: 'of-fork-1', differs: false },
      { tag: 'r', kind: 'posted', contextId: 'r-c', forkId: 'fork-2', jobId: 'of-fork-2', differs: false },
    ],
    stored: {
      jobs: [
        job('f-1', 'c-1', failed),
        job('f-2', 'c-2', failed),
        job('again-1', 'c-1', { ...failed, kind: 'retry' }),
        job('again-2', 'c-2', { ...failed, kind: 'retry' }),
        job('of-fork-1', 'fork-1', { kind: 'retry' }),
        job('of-fork-2', 'fork-2', {}),
      ],
      forks: ['fork-1', 'fork-2'].map((id) => ({ id, of: 'r-c' })),
      texts: ['r-c', 'fork-1', 'fork-2'].map((context) => ({ context, texts: [...texts] })),
    },
  };
}

type Sound = { world: World };
type Ways = readonly [string, (sound: Sound) => void, RegExp][];

const pause = ({ world }: Sound, more: object): void => void Object.assign(world.operated.pauses[0] ?? {}, more);
const drain = ({ world }: Sound, more: object): void => void Object.assign(world.operated.drains[0] ?? {}, more);
const batch = ({ world }: Sound, more: Partial<Batch>): void =>
  void Object.assign(world.repairs.batches[0] ?? {}, more);
const replay = ({ world }: Sound, more: Partial<Replay>): void =>
  void Object.assign(world.repairs.replays[0] ?? {}, more);
const stored = ({ world }: Sound) => world.repairs.stored;
const textsOf = (sound: Sound, of: string): string[] =>
  stored(sound).texts.find(({ context }) => context === of)?.texts ?? [];
const postgresDown: Struck = {
  kind: 'Postgres killed',
  target: 'postgres',
  at: 0,
  wall: 350,
  ms: 10,
  endsRuns: true,
  missed: null,
};

export const BROKEN_REPAIRS: Readonly<Record<'operated' | 'retries' | 'replays', Ways>> = {
  operated: [
    ['nothing was paused', ({ world }) => void world.operated.pauses.pop(), /no process was paused/],
    ['a pause has no effect', (sound) => pause(sound, { from: null }), /is not paused after its request/],
    ['a paused process claims', ({ world }) => claim(world, 101), /worker-1 claimed 1 ms after it was paused/],
    [
      'a pause without an end',
      (sound) => (pause(sound, { to: null }), claim(sound.world, 1_000)),
      /claimed 900 ms after it was paused/,
    ],
    [
      'a process stays paused',
      ({ world }) => void Object.assign(world.operated.alive[0] ?? {}, { status: 'paused' }),
      /is paused at the end/,
    ],
    ['nothing was drained', ({ world }) => void world.operated.drains.pop(), /no process was drained/],
    ['a drain fails', (sound) => drain(sound, { code: 1 }), /ended with 1/],
    ['a drain keeps a lease', (sound) => drain(sound, { leases: 1 }), /keeps 1 leases/],
    [
      'a drained process is registered',
      ({ world }) => void world.operated.alive.push({ id: 'p-2', requested: 'draining', status: 'draining' }),
      /still registered/,
    ],
  ],
  retries: [
    ['no answer was lost', (sound) => batch(sound, { isLost: false }), /no answer of a bulk retry was lost/],
    ['a key has two answers', (sound) => batch(sound, { differs: true }), /same key was answered differently/],
    ['a job is not retried', (sound) => batch(sound, { jobs: ['f-1', 'f-2', 'f-3'] }), /was never retried/],
    [
      'a job is retried under both keys',
      (sound) => {
        sound.world.repairs.batches[0]?.answers[1]?.retries.push({ id: 'f-1', retry: 'again-3' });
        stored(sound).jobs.push({ id: 'again-3', context: 'c-1', kind: 'retry', status: 'failed', tag: 'batch' });
      },
      /was retried 2 times/,
    ],
    [
      'a retry is started twice',
      (sound) =>
        void stored(sound).jobs.push({ id: 'again-3', context: 'c-1', kind: 'retry', status: 'failed', tag: 'batch' }),
      /is in no answer/,
    ],
    ['a retry is lost', (sound) => void stored(sound).jobs.splice(2, 1), /is not stored/],
    [
      'a retry does not end',
      (sound) => void Object.assign(stored(sound).jobs[2] ?? {}, { status: 'queued' }),
      /a job of batch is queued/,
    ],
  ],
  replays: [
    ['no replay was posted', ({ world }) => void world.repairs.replays.pop(), /no replay: posted/],
    ['a replay gets no answer', (sound) => replay(sound, { jobId: null }), /never got through/],
    ['a key makes two forks', (sound) => replay(sound, { differs: true }), /same keys were answered differently/],
    [
      'a fork of a lost answer stays',
      (sound) => void stored(sound).forks.push({ id: 'x', of: 'r-c' }),
      /a fork of no replay/,
    ],
    [
      'a replay runs twice',
      (sound) =>
        void stored(sound).jobs.push({ id: 'y', context: 'fork-1', kind: 'retry', status: 'completed', tag: null }),
      /its fork has 2 jobs/,
    ],
    [
      'a replay fails',
      (sound) => void Object.assign(stored(sound).jobs[4] ?? {}, { status: 'failed' }),
      /its job is failed/,
    ],
    ['an input is copied and posted', (sound) => void textsOf(sound, 'fork-2').push('say: x'), /the history of r is/],
    ['the context is changed', (sound) => void textsOf(sound, 'r-c').push('say: x'), /the history of r is/],
  ],
};

/** Leases may stay if PostgreSQL was down meanwhile. */
export function drainWithoutPostgres({ world }: Sound): void {
  world.operated.drains.push({ process: 'worker-1', id: 'p-3', code: 0, leases: 2, during: { from: 340, to: 360 } });
  world.faults.push(postgresDown);
}

function claim(world: World, at: number): void {
  world.operated.claims.push({ owner: 'p-1', at });
}
