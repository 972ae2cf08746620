// The actors of a schedule: two to four of them, drawn from the seed.
import { createBranch, deleteBranch, switchBranch } from '../../../src/commands/contexts/change-branches.ts';
import { cancelJob } from '../../../src/commands/jobs/cancel-job.ts';
import { changeInput, withdrawInput } from '../../../src/commands/inputs/change-input.ts';
import { clearContext } from '../../../src/commands/contexts/clear-context.ts';
import { interruptContext } from '../../../src/commands/contexts/interrupt-context.ts';
import { DELIVERIES } from '../../../src/commands/inputs/posted-input.ts';
import { INTERRUPT_MODES } from '../../../src/core/run/job.ts';
import { changeWorker } from '../../../src/commands/workers/change-worker.ts';
import { perform, type Command } from '../../../src/commands/perform.ts';
import { startWorker, stopWorker } from '../../../src/commands/workers/stop-worker.ts';
import { DEFAULT_TENANT } from '../../../src/core/ids.ts';
import { runContext } from '../../../src/workers/run/run-context.ts';
import { sweep } from '../worker-state.ts';
import { oneOf, type Lane, type Random, type Script } from './scheduler.ts';
import { TEXTS } from './script.ts';
import { atRest, passTime, stopBeating, type Process, type World } from './world.ts';

export type Cast = { world: World; random: Random; processes: readonly Process[] };

type Role = (cast: Cast, lane: Lane) => () => Promise<void>;

/** Answers the wake-up, twice: the sweep handles the rest. */
export function runs({ world }: Pick<Cast, 'world'>, { state }: Process): () => Promise<void> {
  return async () => {
    await runContext(state, world.contextId);
    await runContext(state, world.contextId);
  };
}

export async function command<T>(world: World, lane: Lane, work: Command<T>): Promise<void> {
  await perform(world.ports(lane.database), work);
}

const submits: Role = ({ world, random }, lane) => {
  const texts = [oneOf(random, TEXTS), oneOf(random, TEXTS)].slice(0, random() < 0.5 ? 1 : 2);
  const delivery = random() < 0.4 ? 'queue' : oneOf(random, DELIVERIES);
  return async () => {
    for (const text of texts) await world.submit(lane.database, lane.name, text, delivery);
  };
};

const cancels: Role = ({ world, random }, lane) => {
  const place = oneOf(random, [0, 1, -1]);
  return async () => {
    const jobId = world.jobAt(place);
    if (jobId === null) return;
    const asked = { tenantId: DEFAULT_TENANT, jobId, reason: 'test', by: null };
    await command(world, lane, cancelJob(world.ports(lane.database), asked));
  };
};

const interrupts: Role = ({ world, random }, lane) => {
  const mode = oneOf(random, INTERRUPT_MODES);
  return async () => {
    const asked = { tenantId: DEFAULT_TENANT, contextId: world.contextId, mode, by: null };
    await command(world, lane, interruptContext(world.ports(lane.database), asked));
  };
};

/** Edits, moves or withdraws inputs that may still be queued. */
const revises: Role = ({ world, random }, lane) => {
  const place = oneOf(random, [0, 1, -1]);
  const kind = oneOf(random, ['edit', 'move', 'withdraw'] as const);
  return async () => {
    const messageId = world.messageAt(place);
    if (messageId === null) return;
    if (kind === 'move') world.moved = true;
    const target = { tenantId: DEFAULT_TENANT, contextId: world.contextId, messageId };
    const work: Command<object> =
      kind === 'withdraw'
        ? withdrawInput(world.ports(lane.database), target)
        : changeInput(target, {
            content: kind === 'edit' ? [{ type: 'text', text: 'plain' }] : null,
            place: kind === 'move' ? 1 : null,
            by: null,
            reserve: () => null,
          });
    await command(world, lane, work);
  };
};

const stops: Role = ({ world, random }, lane) => {
  const startsAgain = random() < 0.5;
  return async () => {
    const target = { tenantId: DEFAULT_TENANT, contextId: world.contextId };
    await command(world, lane, stopWorker(world.ports(lane.database), target, { by: null }));
    if (startsAgain) await command(world, lane, startWorker(world.ports(lane.database), target));
  };
};

/** Answers open questions, again while there are any. */
const answers: Role =
  ({ world }, lane) =>
  async () => {
    for (let tries = 0; tries < 3; tries += 1) {
      const call = await world.asked(lane.database);
      if (call === null) await lane.pause('nothing is asked');
      else await world.answer(lane.database, call);
    }
  };

const starts: Role =
  ({ world }, lane) =>
  () =>
    command(
      world,
      lane,
      startWorker(world.ports(lane.database), { tenantId: DEFAULT_TENANT, contextId: world.contextId }),
    );

const changes: Role =
  ({ world }, lane) =>
  () =>
    command(
      world,
      lane,
      changeWorker({
        tenantId: DEFAULT_TENANT,
        contextId: world.contextId,
        change: { config: { max_tokens: 5 } },
        expectedVersion: null,
      }),
    );

/** Makes, switches, deletes branches, and retries inputs on new branches. */
const branches: Role = ({ world, random }, lane) => {
  const kinds = [1, 2].map(() => oneOf(random, ['edit', 'regenerate', 'create', 'switch', 'delete'] as const));
  const place = oneOf(random, [0, 1, -1]);
  const name = oneOf(random, ['main', 'main-2', 'side']);
  const delivery = oneOf(random, ['queue', 'interrupt', 'reject'] as const);
  const text = oneOf(random, TEXTS);
  return async () => {
    const target = { tenantId: DEFAULT_TENANT, contextId: world.contextId };
    for (const kind of kinds) {
      switch (kind) {
        case 'edit':
        case 'regenerate':
          await world.retryAnswer(lane.database, lane.name, kind, place, text, delivery);
          break;
        case 'create': {
          const from = { fromBranch: null, fromMessageId: world.messageAt(place), activate: random() < 0.5 };
          await command(world, lane, createBranch({ ...target, name: 'side', ...from }));
          break;
        }
        case 'switch':
          await command(world, lane, switchBranch(target, name));
          break;
        case 'delete':
          await command(world, lane, deleteBranch(target, name));
      }
    }
  };
};

/** Clears the context, once or twice: refused while a job is unfinished. */
const clears: Role = ({ world, random }, lane) => {
  const times = random() < 0.5 ? 1 : 2;
  return async () => {
    const target = { tenantId: DEFAULT_TENANT, contextId: world.contextId, isCurrent: () => true };
    for (let left = times; left > 0; left -= 1) {
      await command(world, lane, clearContext(world.ports(lane.database), target));
    }
  };
};

const dies: Role =
  ({ processes, random }, lane) =>
  () =>
    stopBeating(lane.database, oneOf(random, processes).id);

const leaves: Role =
  ({ processes, random }, lane) =>
  async () => {
    await lane.pause('leave');
    oneOf(random, processes).state.registry.close();
  };

const ROLES: readonly Role[] = [
  submits,
  submits,
  answers,
  answers,
  cancels,
  interrupts,
  interrupts,
  revises,
  stops,
  starts,
  changes,
  branches,
  branches,
  branches,
  clears,
  clears,
  dies,
  dies,
  leaves,
];

/** A sweep of a process of its own, which may have a slot to run what it finds. */
export function sweeps({ world }: Pick<Cast, 'world'>, { state, lane }: Process, later: boolean): () => Promise<void> {
  return async () => {
    if (later) await passTime(lane.database, world.contextId);
    await sweep(state);
    await atRest(state.registry);
  };
}

/** `lanes`: one for each actor beside the processes that run the context. */
export function castOf(cast: Cast, sweeper: Process, lanes: readonly Lane[]): Script[] {
  const { random, processes } = cast;
  const running = processes
    .slice(0, random() < 0.5 ? 1 : 2)
    .map((process): Script => ({ lane: process.lane, run: runs(cast, process) }));
  const others = lanes
    .slice(0, 1 + Math.floor(random() * lanes.length))
    .map((lane): Script => ({ lane, run: oneOf(random, ROLES)(cast, lane) }));
  const sweeping: Script = { lane: sweeper.lane, run: sweeps(cast, sweeper, random() < 0.5) };
  return [...running, ...others, ...(random() < 0.5 ? [sweeping] : [])];
}
