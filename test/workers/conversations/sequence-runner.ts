// A database and a worker process on which sequences run: each in a context of its own, many at a time, by the commands
// that clients give and the loop that worker processes run. After every operation the reference is compared with the
// database.
import { randomInt } from 'node:crypto';
import { and, eq, inArray, sql } from 'drizzle-orm';
import { controlSignalsTo } from '../../../src/bus/bus.ts';
import { localBus } from '../../../src/bus/local.ts';
import { ids } from '../../../src/platform/ids.ts';
import { createWorker } from '../../../src/commands/workers/create-worker.ts';
import { perform } from '../../../src/commands/perform.ts';
import type { CommandPorts } from '../../../src/commands/ports.ts';
import { DEFAULT_TENANT, type ContextId, type ProcessId } from '../../../src/core/ids.ts';
import type { ToolDescriptor } from '../../../src/core/tools/tool.ts';
import { openDatabase, type Database } from '../../../src/db/connection/client.ts';
import { register } from '../../../src/db/processes/processes.ts';
import { jobs } from '../../../src/db/schema/jobs.ts';
import type { WorkerState } from '../../../src/workers/process/ports.ts';
import { runContext } from '../../../src/workers/run/run-context.ts';
import { settings } from '../../core/builders.ts';
import { eventFaults, numberFaults } from '../../db/interleaving/checks.ts';
import { TIMES } from '../../db/interleaving/world.ts';
import { createTestDatabase, type TestDatabase } from '../../services/database.ts';
import { manualState } from '../manual-process.ts';
import { deaf, workerPorts } from '../worker-ports.ts';
import { ask } from './expected-requests.ts';
import { Reference } from './reference.ts';
import { differences } from './compare.ts';
import { TOOLS, type Operation } from './operations.ts';
import { ClientCommands } from './client-commands.ts';
import { goOn } from './expected-run.ts';
import { ScriptedPorts } from './scripted-ports.ts';
import { wireFaults } from './provider-prompts.ts';

/**
 * The faults of a sequence, usually none, and the operations until then. `reached`: which operation had which result,
 * and in which state.
 */
export type Judgement = { faults: string[]; trace: string[]; reached: readonly string[] };

/** Done to the database before the comparison; `place`: after which operation. */
export type Tamper = (database: Database, contextId: ContextId, reference: Reference, place: number) => Promise<void>;

export class SequenceRunner {
  readonly #own: TestDatabase;
  readonly #database: Database;
  readonly #ports: CommandPorts;
  readonly #scenes: Map<ContextId, ScriptedPorts>;
  readonly #state: WorkerState;

  private constructor(
    own: TestDatabase,
    database: Database,
    ports: CommandPorts,
    scenes: Map<ContextId, ScriptedPorts>,
    state: WorkerState,
  ) {
    this.#own = own;
    this.#database = database;
    this.#ports = ports;
    this.#scenes = scenes;
    this.#state = state;
  }

  static async open(): Promise<SequenceRunner> {
    const own = await createTestDatabase();
    const admin = openDatabase(own.url, { max: 1 });
    await admin.db.execute(
      sql.raw(`alter database ${new URL(own.url).pathname.slice(1)} set synchronous_commit = off`),
    );
    await admin.close();
    const database = openDatabase(own.url, { max: 10, name: 'conversations' });
    const wakeQueue = deaf.openWakeQueue();
    const bus = localBus();
    const ports: CommandPorts = {
      database,
      wakeQueue,
      bus,
      ids,
      times: TIMES,
      stopGraceMs: TIMES.stopGraceMs,
      boundResult: (content) => content,
    };
    const scenes = new Map<ContextId, ScriptedPorts>();
    const id = ids.next<ProcessId>();
    await register(database.db, {
      id,
      lockKey: randomInt(1, 2 ** 47),
      host: 'h',
      pid: 1,
      version: '0',
      tools: [],
      roles: [],
      models: [],
      mcpServers: [],
    });
    // There are no heartbeats here: the process counts as alive for as long as the sequences take.
    await database.db.execute(sql`update processes set heartbeat_at = heartbeat_at + interval '1 day'`);
    const state = commitsFirst(manualState(scriptedPorts(ports, scenes), id, 1_000), scenes);
    await bus.subscribe(controlSignalsTo(id), ({ contextId, controlSeq }) =>
      state.registry.notify(contextId, controlSeq),
    );
    return new SequenceRunner(own, database, ports, scenes, state);
  }

  async close(): Promise<void> {
    await this.#database.close();
    await this.#own.drop();
  }

  async judge(operations: readonly Operation[], tamper: Tamper | null = null): Promise<Judgement> {
    const contextId = await this.#createContext();
    const scene = new ScriptedPorts();
    this.#scenes.set(contextId, scene);
    const played = new Played(this.#database, this.#ports, this.#state, contextId, scene);
    try {
      return await played.play(operations, tamper);
    } finally {
      await played.abandon();
      this.#scenes.delete(contextId);
    }
  }

  async #createContext(): Promise<ContextId> {
    const worker = { user: null, name: 'w', title: null, role: null, config: {}, parentWorkerId: null };
    const made = await perform(this.#ports, createWorker({ ids }, { tenantId: DEFAULT_TENANT, ...worker }));
    if (made.kind === 'refused') throw new Error(made.message);
    return made.value.contextId;
  }
}

/** One sequence. */
class Played {
  readonly #database: Database;
  readonly #state: WorkerState;
  readonly #contextId: ContextId;
  readonly #scene: ScriptedPorts;
  readonly #commands: ClientCommands;
  readonly #reference = new Reference();
  readonly #trace: string[] = [];
  readonly #reached: string[] = [];
  #run: Promise<void> = Promise.resolve();

  constructor(database: Database, ports: CommandPorts, state: WorkerState, contextId: ContextId, scene: ScriptedPorts) {
    this.#database = database;
    this.#state = state;
    this.#contextId = contextId;
    this.#scene = scene;
    this.#commands = new ClientCommands(ports, contextId);
  }

  async play(operations: readonly Operation[], tamper: Tamper | null): Promise<Judgement> {
    for (const [place, operation] of operations.entries()) {
      const failed = await this.#take(operation).catch((error: unknown) => [`it failed: ${describe(error)}`]);
      await tamper?.(this.#database, this.#contextId, this.#reference, place);
      const faults = [...failed, ...this.#scene.faults, ...this.#wires()];
      if (faults.length > 0) return this.#judged(faults);
      const differing = await differences(this.#database, this.#contextId, this.#reference);
      if (differing.length > 0) return this.#judged(differing);
    }
    return this.#judged(await this.#whole());
  }

  #judged(faults: string[]): Judgement {
    const ends = this.#reference.jobs.map(({ status }) => `a job that is ${status}`);
    return { faults, trace: this.#trace, reached: [...this.#reached, ...ends] };
  }

  /** The run only has to end. */
  async abandon(): Promise<void> {
    this.#scene.abandon();
    await this.#run;
  }

  /** Laws of the sequence of numbers and of states. */
  async #whole(): Promise<string[]> {
    const { db } = this.#database;
    const context = { contextId: this.#contextId };
    return [...(await numberFaults(db, context)), ...(await eventFaults(db, context))];
  }

  #wires(): string[] {
    return this.#scene.prompts.splice(0).flatMap((prompt) => wireFaults(prompt));
  }

  async #take(operation: Operation): Promise<string[]> {
    if (operation.kind === 'go') return this.#go();
    const asked = ask(this.#reference, operation);
    if (asked === null) return [];
    this.#trace.push(`${asked.words}${asked.refused === null ? '' : `, refused: ${asked.refused}`}`);
    const { pausedAt, status } = this.#reference;
    const when = pausedAt === null ? status : `paused at the ${pausedAt.kind}`;
    this.#scene.pause();
    try {
      const outcome = await asked.perform(this.#commands);
      const came = outcome.kind === 'refused' ? outcome.code : null;
      this.#reached.push(`${operation.kind} while ${when}`, `${operation.kind}: ${came ?? 'done'}`);
      if (came !== asked.refused) return [`it was ${came ?? 'done'}, not ${asked.refused ?? 'done'}`];
      if (outcome.kind === 'refused') return [];
      asked.isDone(outcome);
      const isEnded = this.#reference.pausedAt !== null && (this.#reference.job?.stopRequest ?? null) !== null;
      if (isEnded) this.#scene.expect(goOn(this.#reference));
      this.#scene.resume();
      if (isEnded) await this.#standstill();
    } finally {
      this.#scene.resume();
    }
    return [];
  }

  async #go(): Promise<string[]> {
    const { pausedAt, status } = this.#reference;
    if (pausedAt === null && status !== 'runnable') return [];
    this.#trace.push(pausedAt === null ? 'run' : `release of the ${pausedAt.kind}`);
    this.#scene.expect(goOn(this.#reference));
    if (pausedAt === null) this.#run = runContext(this.#state, this.#contextId).then(() => undefined);
    else this.#scene.letGo();
    await this.#standstill();
    return [];
  }

  #standstill(): Promise<void> {
    return this.#scene.standstill(this.#run, this.#reference.pausedAt !== null);
  }
}

function describe(error: unknown): string {
  return error instanceof Error
    ? `${error.message} ${error.cause === undefined ? '' : describe(error.cause)}`
    : 'no error';
}

function scriptedPorts({ database, wakeQueue, bus }: CommandPorts, scenes: ReadonlyMap<ContextId, ScriptedPorts>) {
  const sceneOf = (contextId: string): ScriptedPorts => {
    const scene = scenes.get(contextId as ContextId);
    if (scene === undefined) throw new Error('No sequence uses this context.');
    return scene;
  };
  return workerPorts({
    database,
    wakeQueue,
    bus,
    times: TIMES,
    abilities: {
      model: () => ({
        isLoaded: () => true,
        async call(request, _listener, signal) {
          const [contextId = '', purpose] = request.cacheKey.split('/');
          const scene = sceneOf(contextId);
          await scene.claiming;
          const branch = await branchWorkedOn(database, contextId);
          return scene.model(request, purpose === undefined ? branch : `${branch}/${purpose}`, signal);
        },
      }),
      tools: { execute: (call, signal) => sceneOf(call.contextId).execute(call, signal) },
      resolve: () => ({ kind: 'served', settings: settings({ tools: DESCRIPTORS, maxSteps: 50 }) }),
    },
  });
}

/** The request to a model does not contain its branch: it is that of the job that has begun and not ended. */
async function branchWorkedOn({ db }: Database, contextId: string): Promise<string> {
  const [job] = await db
    .select({ branch: jobs.branch })
    .from(jobs)
    .where(and(eq(jobs.contextId, contextId), inArray(jobs.status, ['running', 'waiting'])));
  return job?.branch ?? 'no branch';
}

/** Calls that start before their answer is stored are included once it is: the comparison happens then. */
function commitsFirst(state: WorkerState, scenes: ReadonlyMap<ContextId, ScriptedPorts>): WorkerState {
  return {
    ...state,
    claimer(claim) {
      const claiming = state.claimer(claim);
      const scene = scenes.get(claim.contextId);
      if (scene !== undefined) scene.claiming = claiming.catch(() => undefined);
      return claiming;
    },
    async appender(move) {
      const outcome = await state.appender(move);
      scenes.get(move.lease.contextId)?.stores(move);
      return outcome;
    },
  };
}

const DESCRIPTORS: ToolDescriptor[] = TOOLS.map((name) => ({
  name,
  description: '',
  input_schema: { type: 'object' },
  effect: name === 'mail' || name === 'locate' ? 'once' : 'none',
  on_unknown: 'tell',
  answered_by: name === 'ask_user' ? 'person' : name === 'locate' ? 'client' : 'tool',
}));
