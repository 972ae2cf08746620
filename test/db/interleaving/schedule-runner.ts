// Connections to a database, on which one schedule after the other is run and checked.
import { sql } from 'drizzle-orm';
import { perform } from '../../../src/commands/perform.ts';
import { startWorker } from '../../../src/commands/workers/stop-worker.ts';
import { DEFAULT_TENANT } from '../../../src/core/ids.ts';
import { openDatabase, type Database } from '../../../src/db/connection/client.ts';
import { runContext } from '../../../src/workers/run/run-context.ts';
import { createTestDatabase, type TestDatabase } from '../../services/database.ts';
import { startStatementNetwork, type Rewrite, type StatementNetwork } from '../connection/statement-network.ts';
import { sweep } from '../worker-state.ts';
import { castOf } from './actors.ts';
import { installAudit } from './audit.ts';
import { faultsOf } from './checks.ts';
import { compacts } from './compacting.ts';
import { Lane, Scheduler, oneOf, seeded, type Random } from './scheduler.ts';
import { TEXTS } from './script.ts';
import { World, atRest, passTime, stopBeating, type Process } from './world.ts';

/** The violations of a schedule: usually none. */
export type Judgement = { seed: number; faults: string[]; trace: string[] };

const NAMES = ['run-a', 'run-b', 'sweep', 'client-a', 'client-b', 'client-c', 'first', 'last'] as const;
type Name = (typeof NAMES)[number];

/** A database for this class; its commits need not be durable. */
export async function createScheduleDatabase(): Promise<TestDatabase> {
  const own = await createTestDatabase();
  const admin = openDatabase(own.url, { max: 1 });
  try {
    await installAudit(admin);
    const name = new URL(own.url).pathname.slice(1);
    await admin.db.execute(sql.raw(`alter database ${name} set synchronous_commit = off`));
  } finally {
    await admin.close();
  }
  return own;
}

export class ScheduleRunner {
  readonly #network: StatementNetwork;
  readonly #admin: Database;
  readonly #lanes: ReadonlyMap<Name, Lane>;

  private constructor(network: StatementNetwork, lanes: ReadonlyMap<Name, Lane>) {
    this.#network = network;
    this.#admin = openDatabase(network.url, { max: 2, name: 'admin' });
    this.#lanes = lanes;
  }

  /** `url`: of a database that no other instance uses at the same time. `rewrite`: changes the text of statements. */
  static async open(url: string, rewrite: Rewrite = () => null): Promise<ScheduleRunner> {
    const network = await startStatementNetwork(url, rewrite);
    const lanes = NAMES.map(async (name) => [name, await Lane.open(url, name, rewrite)] as const);
    return new ScheduleRunner(network, new Map(await Promise.all(lanes)));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#lanes.values()].map((lane) => lane.close()));
    await this.#admin.close();
    await this.#network.close();
  }

  /**
   * `compacting`: whether compactions may be requested. `deaf`: no process receives control signals, and a sweep always
   * runs, so that stop requests are often left to the sweep.
   */
  async judge(seed: number, compacting = true, deaf = false): Promise<Judgement> {
    const random = seeded(seed);
    const trace: string[] = [];
    const world = await World.create(this.#admin);
    try {
      const processes = await Promise.all([
        this.#process(world, 'run-a', 1, random, deaf),
        this.#process(world, 'run-b', 1, random, deaf),
      ]);
      const sweeper = await this.#process(world, 'sweep', random() < 0.5 || deaf ? 1 : 0, random, deaf);
      await this.#prepare(world, random, trace);
      const lanes = [this.#lane('client-a'), this.#lane('client-b')];
      const cast = castOf({ world, random, processes }, sweeper, lanes);
      if (compacting) cast.push(...(await compacts(world, this.#admin, seed, this.#lane('client-c'))));
      await new Scheduler(this.#admin).play(cast, random, trace);
      const leftOver = await this.#bringToRest(world);
      return { seed, faults: [...leftOver, ...(await faultsOf(this.#admin, world))], trace };
    } catch (error) {
      return { seed, faults: [`a client failed: ${wordsOf(error)}`], trace };
    } finally {
      await this.#forget();
    }
  }

  /** Leftovers of a broken schedule must not be due in the next one. */
  async #forget(): Promise<void> {
    await this.#admin.db.execute(sql`delete from processes`);
    await this.#admin.db.execute(
      sql`update contexts set scheduling_status = 'idle', lease_owner = null, next_check_at = null where scheduling_status <> 'idle'`,
    );
  }

  #lane(name: Name): Lane {
    const lane = this.#lanes.get(name);
    if (lane === undefined) throw new Error(`no lane ${name}`);
    return lane;
  }

  #process(world: World, name: Name, capacity: number, random: Random, deaf: boolean): Promise<Process> {
    return world.startProcess(this.#admin, this.#lane(name), capacity, random() < 0.7 && !deaf);
  }

  /** Where the schedule begins: idle, with inputs in the queue, or with a job that waits for its retry or an answer. */
  async #prepare(world: World, random: Random, trace: string[]): Promise<void> {
    const inputs = Math.floor(random() * 3);
    const waits = inputs > 0 && random() < 0.35;
    const first = oneOf(random, ['retry', 'ask', 'both'] as const);
    for (let place = 0; place < inputs; place += 1) {
      const text = waits && place === 0 ? first : oneOf(random, TEXTS);
      trace.push(`queued: ${text}`);
      await world.submit(this.#admin, 'admin', text);
    }
    if (!waits) return;
    trace.push('the first waits');
    const { state } = await world.startProcess(this.#admin, this.#lane('first'), 1, false);
    await runContext(state, world.contextId);
    if (random() < 0.5) await passTime(this.#admin, world.contextId);
  }

  /** Sweeps find all remaining work once time has passed. Work that no sweep finds is a fault. */
  async #bringToRest(world: World): Promise<string[]> {
    const [owned] = await this.#admin.db.execute<{ name: string }>(sql`
      select p.id as name from contexts c join processes p on p.id = c.lease_owner
      where c.id = ${world.contextId} and p.heartbeat_at > clock_timestamp() - interval '10 minutes'`);
    const orphan = owned === undefined ? [] : ['a live process owns the context and does not run it'];
    const asleep = await this.#admin.db.execute(sql`
      select 1 from contexts c join tool_calls t on t.context_id = c.id and t.status = 'waiting' and t.reply is not null
      where c.id = ${world.contextId} and c.scheduling_status = 'waiting' and c.next_check_at > clock_timestamp() + interval '1 day'`);
    const unheard = asleep.length === 0 ? [] : ['no sweep reads an answer that was given'];
    for (const { id } of world.processes) await stopBeating(this.#admin, id);
    const target = { tenantId: DEFAULT_TENANT, contextId: world.contextId };
    await perform(world.ports(this.#admin), startWorker(world.ports(this.#admin), target));
    const last = await world.startProcess(this.#admin, this.#lane('last'), 1, true);
    for (let count = 0; count < 20 && !(await this.#isAtRest(world)); count += 1) {
      const call = await world.asked(this.#admin);
      if (call !== null) await world.answer(this.#admin, call);
      await passTime(this.#admin, world.contextId);
      await sweep(last.state);
      await atRest(last.state.registry);
    }
    return [...orphan, ...unheard];
  }

  async #isAtRest({ contextId }: World): Promise<boolean> {
    const [row] = await this.#admin.db.execute<{ scheduling_status: string }>(
      sql`select scheduling_status from contexts where id = ${contextId}`,
    );
    return row?.scheduling_status === 'idle';
  }
}

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return 'a value that is no error';
  return error.cause === undefined ? error.message : `${error.message} ${wordsOf(error.cause)}`;
}

/** The violations as text, with the seed that reproduces them. */
export function describeJudgement({ seed, faults, trace }: Judgement): string {
  return [
    `seed ${seed}:`,
    ...faults.map((fault) => `  ${fault}`),
    'schedule:',
    ...trace.map((line) => `  ${line}`),
  ].join('\n');
}
