// Scenarios for processes that die: the inputs, the events meanwhile, and the expected end for every point of death.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { expect } from 'vitest';
import type { ContextId, JobId } from '../../../src/core/ids.ts';
import type { WorkerConfig } from '../../../src/core/workers/settings.ts';
import { startChild, type Child } from '../rig/children.ts';
import { startCrashProcess } from './crash-process.ts';
import type { Watcher } from './effects.ts';
import { readOutside } from '../outside/outside-tools.ts';
import { withEnvironment, type TestEnvironment } from '../rig/environment.ts';
import { expectSound } from '../rig/stored.ts';
import { until } from '../rig/until.ts';

/** Crashes in progress at once. */
const AT_ONCE = 6;
const TOOLS = ['look', 'put', 'mail', 'pay', 'wire', 'book', 'spawn_worker', 'wait_for_workers'];
const ONCE = ['mail', 'pay'];

export type Cast = { environment: TestEnvironment; contextIds: ContextId[]; jobIds: JobId[] };

export type Play = {
  /** Beside the model and the tools. */
  config?: WorkerConfig;
  /** Further settings of the processes. */
  env?(cast: Cast): Record<string, string>;
  /** After the death of the first process, and before the next one begins. */
  afterDeath?(cast: Cast): Promise<void>;
  /** Whether there is work outside of the environment's database. */
  hasMore?(cast: Cast): Promise<boolean>;
  /** Repeated actions of a client from beginning to end, whichever process runs. */
  person?(cast: Cast): Promise<void>;
  /** Inputs of each context, posted before anything runs. */
  inputs: string[][];
  /** Before anything else. */
  begin?(cast: Cast): Promise<void>;
  /** Runs beside the first process. Ends by itself once that process is dead. */
  meanwhile?(cast: Cast, first: Child): Promise<void>;
  /** Runs until all is settled, whichever process runs. */
  beside?(cast: Cast, isOver: () => boolean): Promise<void>;
  /** At the end. `begun`: the `once` calls that were marked as started when the first process had ended. */
  expect(cast: Cast, begun: ReadonlySet<string>): Promise<void>;
};

type Death = { when: 'before' | 'after'; at: number };

/**
 * Plays it with a death at the first effect of each kind. Returns how many died. One effect of a kind covers all of
 * them: the stored rows then differ only by earlier steps.
 */
export async function dieAtEachKind(play: Play, when: Death['when']): Promise<number> {
  const effects = await effectsOfWhole(play);
  const places = [...new Set(effects)].map((kind) => effects.indexOf(kind) + 1).values();
  let died = 0;
  const alongside = async (): Promise<void> => {
    for (const at of places) if (!(await survives(play, { when, at }))) died += 1;
  };
  await atOnce(AT_ONCE, alongside);
  return died;
}

/** The effects of a scenario without a death, in order. */
async function effectsOfWhole(play: Play): Promise<string[]> {
  const known = wholes.get(play);
  if (known !== undefined) return known;
  const effects = await withEnvironment(async (environment) => {
    const cast = await raise(environment, play);
    expect(await besides(cast, play, () => act(cast, play, { when: 'before', at: Infinity }))).toBe(true);
    return readFileSync(environment.file('effects'), 'utf8').trim().split('\n');
  });
  wholes.set(play, effects);
  return effects;
}

const wholes = new Map<Play, string[]>();

/** A run may have an effect less than another: two calls that append at the same time are one effect. */
const PLAYED_THROUGH = 2;

/**
 * Plays it with a death at every effect, until two runs end without one. Returns how many died. Places that the whole
 * scenario does not have are tried no more than so many at once: most of these end without a death.
 */
export async function dieEverywhere(play: Play, when: Death['when']): Promise<number> {
  const known = (await effectsOfWhole(play)).length;
  let at = 0;
  let died = 0;
  let playedThrough = 0;
  const alongside = async (mayPlay: () => boolean): Promise<void> => {
    while (mayPlay()) {
      at += 1;
      if (await survives(play, { when, at })) playedThrough += 1;
      else died += 1;
    }
  };
  await atOnce(AT_ONCE, () => alongside(() => at < known));
  await atOnce(PLAYED_THROUGH, () => alongside(() => playedThrough < PLAYED_THROUGH));
  return died;
}

async function atOnce(count: number, work: () => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: count }, work));
}

async function survives(play: Play, death: Death): Promise<boolean> {
  return withEnvironment(async (environment) => {
    try {
      const cast = await raise(environment, play);
      return await besides(cast, play, () => act(cast, play, death));
    } catch (error) {
      const effects = readFileSync(environment.file('effects'), { encoding: 'utf8', flag: 'a+' });
      throw new Error(`Died ${death.when} effect ${death.at}. Effects:\n${effects}`, { cause: error });
    }
  });
}

async function besides<T>(cast: Cast, play: Play, work: () => Promise<T>): Promise<T> {
  const over = new AbortController();
  const acting = goOn();
  async function goOn(): Promise<void> {
    for (;;) {
      await play.person?.(cast);
      if (over.signal.aborted) return;
      await sleep(50);
    }
  }
  try {
    return await work();
  } finally {
    over.abort();
    await acting;
  }
}

async function raise(environment: TestEnvironment, play: Play): Promise<Cast> {
  const cast: Cast = { environment, contextIds: [], jobIds: [] };
  await play.begin?.(cast);
  for (const inputs of play.inputs) {
    const contextId = await environment.createContext({
      model: 'simulated/default',
      tools: TOOLS,
      ...play.config,
    });
    cast.contextIds.push(contextId);
    for (const text of inputs) cast.jobIds.push(await environment.post(contextId, text));
  }
  return cast;
}

async function act(cast: Cast, play: Play, death: Death): Promise<boolean> {
  let isOver = false;
  const beside = play.beside?.(cast, () => isOver);
  try {
    return await playOn(cast, play, death);
  } finally {
    isOver = true;
    await beside;
  }
}

async function playOn(cast: Cast, play: Play, death: Death): Promise<boolean> {
  const variables = { ...play.env?.(cast), DIE_AT: String(death.at), DIE_WHEN: death.when };
  const first = startCrashWorker(cast.environment, variables);
  try {
    return await playToTheEnd(cast, play, first);
  } finally {
    // If it failed before its end, the next scenario would get a database on which this process still works.
    first.signal('SIGKILL');
    await first.exited;
  }
}

async function playToTheEnd(cast: Cast, play: Play, first: Child): Promise<boolean> {
  const { environment } = cast;
  const isSettled = async (): Promise<boolean> =>
    !((await play.hasMore?.(cast)) ?? false) && (await environment.isSettled());
  await play.meanwhile?.(cast, first);
  await until('every job to end', async () => first.ended() !== null || (await isSettled()));
  const survived = await endedWell(first);
  await until('its last statements to be over', () => isForgotten(environment));
  if (!survived) await play.afterDeath?.(cast);
  const begun = await startedCalls(environment);
  if (!(await isSettled())) await continueUntil(environment, play.env?.(cast) ?? {}, isSettled);
  await play.expect(cast, begun);
  for (const contextId of cast.contextIds) await expectSound(environment.ports.database.db, contextId);
  expectOnce(environment);
  return survived;
}

/** This process can continue as well as any other: the one that dies is a separate process. */
const BLIND: Watcher = { before: () => undefined, after: () => undefined };

/** Runs a process here until it is so. */
export async function continueUntil(
  environment: TestEnvironment,
  env: Record<string, string>,
  isOver: () => Promise<boolean>,
): Promise<void> {
  const drain = await startCrashProcess({
    env: { ...crashEnv(environment), ...env },
    open: (options) => environment.open(options),
    watcher: BLIND,
    log: pino({ level: 'silent' }),
  });
  try {
    await until('every job to end', isOver);
  } finally {
    await drain();
  }
}

export function startCrashWorker(environment: TestEnvironment, env: Record<string, string> = {}): Child {
  return startChild('test/e2e/crash/crash-worker.ts', [], { ...crashEnv(environment), ...env });
}

export function crashEnv(environment: TestEnvironment): Record<string, string> {
  return { ...environment.env, OUTSIDE: environment.file('outside'), EFFECTS: environment.file('effects') };
}

/**
 * Statements that a process had sent when it died may be committed after its death, as long as the server keeps its
 * connection.
 */
async function isForgotten(environment: TestEnvironment): Promise<boolean> {
  const left = await environment.query(`
    select 1 from pg_stat_activity
    where datname = current_database() and application_name in ('crash-worker', 'tools-of-nightshift')`);
  return left.length === 0;
}

async function startedCalls(environment: TestEnvironment): Promise<Set<string>> {
  const rows = await environment.query(`select name from tool_calls where status = 'started'`);
  return new Set(rows.map((row) => String(row['name'])));
}

/** Terminates it. False: it had died, or died on its way out. Any other end than these two is a fault. */
export async function endedWell(child: Child): Promise<boolean> {
  child.signal('SIGTERM');
  const { code, signal } = await child.exited;
  expect(child.lines.filter((line) => line.includes('"level":50'))).toEqual([]);
  expect([0, 'SIGKILL']).toContain(signal ?? code);
  return signal === null;
}

/** A `once` tool began at most once for each of its calls. */
export function expectOnce(environment: TestEnvironment): void {
  const begun = readOutside(environment.file('outside')).filter(({ what }) => what === 'begin');
  for (const name of ONCE) {
    const keys = begun.filter((line) => line.name === name).map((line) => line.key);
    expect(keys, `${name} in the outside world`).toEqual([...new Set(keys)]);
  }
}

/** How often a tool had its effect in the outside world. */
export function effectsOf(environment: TestEnvironment, name: string): number {
  return readOutside(environment.file('outside')).filter((line) => line.what === 'effect' && line.name === name).length;
}
