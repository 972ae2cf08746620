// One context and whoever has to do with it: processes that run it, clients that want something of it. The model and the
// tools are driven by the text of the input: `plain` is answered, `tools` calls two tools, `retry` fails once and waits
// long, `fail` fails for good.
import { sql } from 'drizzle-orm';
import { pino } from 'pino';
import { v7 } from 'uuid';
import { localBus } from '../../../src/bus/local.ts';
import { summonsTo } from '../../../src/bus/bus.ts';
import type { Bus } from '../../../src/bus/bus.ts';
import { ids } from '../../../src/cli/ids.ts';
import { createWorker } from '../../../src/commands/create-worker.ts';
import { perform, performAlone } from '../../../src/commands/perform.ts';
import type { CommandPorts } from '../../../src/commands/ports.ts';
import { needsTransaction, submitInput } from '../../../src/commands/submit-input.ts';
import type { Accepted, Delivery } from '../../../src/commands/submit-input.ts';
import { DEFAULT_TENANT } from '../../../src/core/ids.ts';
import type { ContextId, JobId, MessageId, ProcessId, ToolCallId } from '../../../src/core/ids.ts';
import type { Model, ModelOutcome, ModelRequest } from '../../../src/core/model.ts';
import type { ToolDescriptor, ToolInvocation, ToolOutcome } from '../../../src/core/tool.ts';
import type { Database } from '../../../src/db/client.ts';
import { register } from '../../../src/db/processes.ts';
import { createClaimer } from '../../../src/workers/claimer.ts';
import { createAppender } from '../../../src/workers/appender.ts';
import type { Bell, Queue } from '../../../src/queue/doorbell.ts';
import { Audience } from '../../../src/workers/audience.ts';
import { DatabaseClock } from '../../../src/workers/clock.ts';
import { Gates } from '../../../src/workers/gates.ts';
import { createWorkerMetrics } from '../../../src/workers/metrics.ts';
import type { WorkerPorts, WorkerState } from '../../../src/workers/ports.ts';
import { Registry } from '../../../src/workers/registry.ts';
import type { Lane } from './scheduler.ts';

export const TEXTS = ['plain', 'tools', 'retry', 'fail'] as const;
export type Text = (typeof TEXTS)[number];

/** Nobody dies of a late beat while a schedule is played; whoever is to die is given a beat of an hour ago. */
export const TIMES: WorkerPorts['times'] = {
  beatMs: 1_000,
  missedMs: 600_000,
  leaseMs: 1_200_000,
  sweepMs: 1_000,
  stopGraceMs: 0,
  drainMs: 1_000,
};

const bell: Bell = { ring: () => undefined, isReachable: async () => true, close: async () => undefined };
const queue: Queue = {
  openBell: () => bell,
  listen: async () => ({ pause: async () => undefined, close: async () => undefined }),
};

export type Process = { id: ProcessId; lane: Lane; state: WorkerState };

export class World {
  readonly contextId: ContextId;
  readonly bus: Bus = localBus();
  /** Inputs that were accepted: who sent them, and what came back. */
  readonly accepted: { client: string; job: Accepted }[] = [];
  readonly processes: Process[] = [];
  /** Somebody may have changed the order of the queue. */
  moved = false;
  /** How often each call of a `once` tool really ran. */
  readonly ran = new Map<ToolCallId, number>();
  /** Whatever a worker process logged as an error. */
  readonly errors: string[] = [];

  private constructor(contextId: ContextId) {
    this.contextId = contextId;
  }

  static async create(admin: Database): Promise<World> {
    const made = await perform(
      portsOf(admin, localBus()),
      createWorker(
        { ids },
        {
          tenantId: DEFAULT_TENANT,
          name: 'w',
          title: null,
          role: null,
          config: {},
          parentWorkerId: null,
        },
      ),
    );
    if (made.kind === 'refused') throw new Error(made.message);
    return new World(made.value.contextId);
  }

  ports(database: Database): CommandPorts {
    return portsOf(database, this.bus);
  }

  async submit(database: Database, client: string, text: Text, delivery: Delivery = 'queue'): Promise<void> {
    const carryOut = needsTransaction(delivery) ? perform : performAlone;
    const outcome = await carryOut(
      this.ports(database),
      submitInput(
        { ids, times: TIMES, stopGraceMs: TIMES.stopGraceMs },
        {
          tenantId: DEFAULT_TENANT,
          contextId: this.contextId,
          content: [{ type: 'text', text }],
          delivery,
          priority: 5,
          metadata: {},
          maxSteps: null,
          deadline: null,
          queueLimit: 100,
        },
      ),
    );
    if (outcome.kind === 'done') this.accepted.push({ client, job: outcome.value });
  }

  jobAt(place: number): JobId | null {
    return this.accepted.at(place)?.job.jobId ?? null;
  }

  messageAt(place: number): MessageId | null {
    return this.accepted.at(place)?.job.messageId ?? null;
  }

  /** A worker process that lives; `hears`: whether summons reach it. */
  async startProcess(admin: Database, lane: Lane, capacity: number, hears: boolean): Promise<Process> {
    const id = ids.next<ProcessId>();
    await register(admin.db, {
      id,
      lockKey: Math.floor(Math.random() * 2 ** 46),
      host: 'h',
      pid: 1,
      version: '0',
      tools: [],
      roles: [],
      models: [],
    });
    const registry = new Registry(capacity);
    const clock = new DatabaseClock();
    const metrics = createWorkerMetrics(registry, []);
    const ports: WorkerPorts = {
      database: lane.database,
      openBeatConnection: () => lane.database,
      queue,
      bell,
      bus: this.bus,
      ids,
      abilities: {
        model: () => this.#model(lane),
        keyId: (provider) => provider,
        tools: { execute: (call, signal) => this.#runTool(lane, call, signal) },
        resolve: () => ({
          kind: 'served',
          settings: {
            model: { provider: 'simulated', model: 'm' },
            streaming: true,
            systemPrompt: '',
            tools: TOOLS,
            maxTokens: null,
            maxSteps: 20,
            parameters: {},
          },
        }),
        published: { tools: [], roles: [], models: [] },
      },
      times: TIMES,
      log: pino({ level: 'error' }, { write: (line: string) => this.errors.push(line) }),
      random: () => 0.5,
    };
    const gates = new Gates(ports, clock, metrics);
    const audience = new Audience();
    const appender = createAppender(lane.database.db);
    const claimer = createClaimer({ ...ports, clock, registry });
    const state: WorkerState = {
      ...ports,
      appender,
      claimer,
      registry,
      audience,
      clock,
      metrics,
      gates,
      identity: () => id,
    };
    if (hears)
      await this.bus.subscribe(summonsTo(id), ({ contextId, controlSeq }) =>
        registry.lookUp(contextId, controlSeq),
      );
    const process: Process = { id, lane, state };
    this.processes.push(process);
    return process;
  }

  #model(lane: Lane): Model {
    return {
      call: async (request, _listener, signal) => {
        await lane.pause('the model');
        return signal.aborted ? { kind: 'aborted' } : answerTo(request);
      },
    };
  }

  async #runTool(lane: Lane, call: ToolInvocation, signal: AbortSignal): Promise<ToolOutcome> {
    if (call.name === 'mail') this.ran.set(call.id, (this.ran.get(call.id) ?? 0) + 1);
    await lane.pause(`the tool ${call.name}`);
    if (signal.aborted) return { kind: 'aborted' };
    return { kind: 'result', content: `${call.name} ok`, is_error: false };
  }
}

const TOOLS: ToolDescriptor[] = (['look', 'mail'] as const).map((name) => ({
  name,
  description: '',
  input_schema: { type: 'object' },
  effect: name === 'mail' ? 'once' : 'none',
  on_unknown: 'tell',
}));

function portsOf(database: Database, bus: Bus): CommandPorts {
  return { database, bell, bus, ids, times: TIMES, stopGraceMs: TIMES.stopGraceMs };
}

function answerTo({ messages, failures }: ModelRequest): ModelOutcome {
  const last = messages.at(-1)?.content.at(-1);
  switch (last?.type === 'text' ? last.text : '') {
    case 'tools':
      return says('look', 'mail');
    case 'retry':
      if (failures > 0) return says();
      return { kind: 'failed', failure: { class: 'server_error', message: 'slow', retryAfterMs: 60_000 } };
    case 'fail':
      return { kind: 'failed', failure: { class: 'auth', message: 'no', retryAfterMs: null } };
    default:
      return says();
  }
}

function says(...calls: string[]): ModelOutcome {
  return {
    kind: 'done',
    answer: {
      content: [
        { type: 'text', text: 'so' },
        ...calls.map((name) => ({ type: 'tool_use' as const, id: v7() as ToolCallId, name, input: {} })),
      ],
      finishReason: calls.length > 0 ? 'tool_use' : 'stop',
      usage: { input_tokens: 3, output_tokens: 2, cache_read_tokens: 0, cache_write_tokens: 0 },
      modelId: 'm',
      responseId: null,
    },
  };
}

/** What was to come later is due now. */
export async function passTime({ db }: Database, contextId: ContextId): Promise<void> {
  await db.execute(sql`
    update jobs set retry_at = clock_timestamp() - interval '1 second'
    where context_id = ${contextId} and retry_at is not null`);
  await db.execute(sql`
    update contexts set sweep_at = clock_timestamp() - interval '1 second'
    where id = ${contextId} and sweep_at is not null and status <> 'running'`);
}

/** The process's last beat was an hour ago, and its lock is free. */
export async function stopBeating({ db }: Database, id: ProcessId): Promise<void> {
  await db.execute(
    sql`update processes set beat_at = clock_timestamp() - interval '1 hour' where id = ${id}`,
  );
}
