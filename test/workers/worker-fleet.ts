// A fleet of worker processes in the test process: real Postgres, real queue, a model and tools that the test controls.
// Clients are the commands themselves; HTTP is tested elsewhere.
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { Queue as BullQueue } from 'bullmq';
import type { Logger } from 'pino';
import { inject } from 'vitest';
import { v7 } from 'uuid';
import { localBus } from '../../src/bus/local.ts';
import { ids } from '../../src/platform/ids.ts';
import { answerCall, type Answered } from '../../src/commands/calls/answer-call.ts';
import { approveCalls, type Judgement } from '../../src/commands/calls/approve-calls.ts';
import { cancelJob } from '../../src/commands/jobs/cancel-job.ts';
import { createWorker } from '../../src/commands/workers/create-worker.ts';
import { perform, type AnyCommand } from '../../src/commands/perform.ts';
import type { CommandPorts } from '../../src/commands/ports.ts';
import { submitInput } from '../../src/commands/inputs/submit-input.ts';
import type { Accepted, Delivery } from '../../src/commands/inputs/posted-input.ts';
import { interruptContext } from '../../src/commands/contexts/interrupt-context.ts';
import { ASKING_DEFAULTS, decideApproval, type Approval } from '../../src/core/run/policy.ts';
import type { InterruptMode } from '../../src/core/run/job.ts';
import type { Block, InputBlock, ToolUseBlock } from '../../src/core/conversation/blocks.ts';
import type { User } from '../../src/core/access/user.ts';
import {
  DEFAULT_TENANT,
  type ContextId,
  type JobId,
  type TenantId,
  type ToolCallId,
  type WorkerId,
} from '../../src/core/ids.ts';
import type { Json } from '../../src/core/json.ts';
import type { Model, ModelListener, ModelOutcome, ModelRequest, ProviderName } from '../../src/core/model/model.ts';
import type { Message } from '../../src/core/conversation/message.ts';
import type { Serving, Settings } from '../../src/core/workers/settings.ts';
import type {
  CallServices,
  Reconciled,
  ToolCaller,
  ToolDescriptor,
  ToolInvocation,
  ToolOutcome,
} from '../../src/core/tools/tool.ts';
import {
  openDatabase,
  type Database,
  type DatabaseOptions,
  type StatementHook,
} from '../../src/db/connection/client.ts';
import { FROZEN_LIMITS } from '../../src/db/processes/frozen-sessions.ts';
import type { ToolDatabase } from '../../src/db/tool-transactions/tool-database.ts';
import { readHistory } from '../../src/db/run/history.ts';
import type { WorkerDefinition } from '../../src/db/run/mailbox/worker.ts';
import type { Allow } from '../../src/core/access/tenant.ts';
import type { Models } from '../../src/llm/models.ts';
import { redisQueue } from '../../src/queue/redis.ts';
import { QUEUE_NAME } from '../../src/queue/wake-queue.ts';
import { TEAM_DEFAULTS, type TeamAbilities } from '../../src/workers/run/team-abilities.ts';
import { startWorkerProcess, type Lifetime, type WorkerProcess } from '../../src/workers/process/process.ts';
import type { WebhookPorts, WorkerTimes } from '../../src/workers/process/ports.ts';
import { NO_TELEMETRY } from '../../src/core/tracing/telemetry.ts';
import type { Tracing } from '../../src/core/tracing/tracing.ts';
import { given, settings } from '../core/builders.ts';
import { firstInput, postedInput } from '../db/inputs.ts';
import { createTestDatabase } from '../services/database.ts';
import { testPrefix } from '../services/prefix.ts';
import { TIMES, deaf, workerPorts } from './worker-ports.ts';

export type Script = (
  request: ModelRequest,
  signal: AbortSignal,
  listener: ModelListener,
) => Promise<ModelOutcome> | ModelOutcome;
export type Tools = Record<
  string,
  Partial<ToolDescriptor> & {
    approval?: Approval;
    execute(call: ToolInvocation, signal: AbortSignal, services: CallServices): Promise<ToolOutcome> | ToolOutcome;
    /** It ends by itself when its signal is aborted, and its end counts. Default: an abort ends the call at once. */
    endsItself?: true;
    /** The outcome that it reports for a call that lost its runner. */
    reconcile?(call: ToolInvocation, signal: AbortSignal): Promise<Reconciled> | Reconciled;
  }
>;

/** An answer of the model, with calls by name and input. */
export function says(text: string, ...calls: { name: string; input: Json }[]): ModelOutcome {
  const uses: ToolUseBlock[] = calls.map((call) => ({ type: 'tool_use', id: v7() as ToolCallId, ...call }));
  const content: Block[] = text === '' ? uses : [{ type: 'text', text }, ...uses];
  return {
    kind: 'done',
    answer: given({
      content,
      finishReason: calls.length > 0 ? 'tool_use' : 'stop',
      modelId: 'scripted',
    }),
  };
}

export function fails(failure: Extract<ModelOutcome, { kind: 'failed' }>['failure']): ModelOutcome {
  return { kind: 'failed', failure };
}

export function result(content: string): ToolOutcome {
  return { kind: 'result', content, is_error: false };
}

/** Resolves when the signal fires. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** The work, or its end when the signal fires. Leaves no listener behind: the signal may live as long as the fleet. */
async function endedBy<T>(signal: AbortSignal, work: Promise<T>): Promise<T | { kind: 'aborted' }> {
  const fired = Promise.withResolvers<{ kind: 'aborted' }>();
  const end = (): void => fired.resolve({ kind: 'aborted' });
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  try {
    return await Promise.race([work, fired.promise]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}

export type PostOptions = {
  maxSteps?: number;
  deadlineMs?: number;
  delivery?: Delivery;
  branch?: string;
  priority?: number;
  user?: User;
  tenantId?: TenantId;
};

export type FleetOptions = {
  model: Script;
  /** Real providers in place of `model`; contexts then run on the named one. */
  provider?: { models: Models; name: ProviderName };
  tools?: Tools;
  /** In place of the same settings for every worker. */
  resolve?: (worker: WorkerDefinition, caller: ToolCaller | null, allow: Allow) => Serving;
  processes?: number;
  concurrency?: number;
  /** Slots beyond it. */
  reserved?: number;
  queue?: 'redis' | 'deaf';
  times?: Partial<WorkerTimes>;
  /** How long a person has who is asked for an outcome, in milliseconds. */
  outcomeWaitMs?: number;
  maxSteps?: number;
  /** In place of the default config; read at every check. */
  settings?: () => Partial<Settings>;
  /** The limits of workers that workers make. */
  team?: Partial<TeamAbilities>;
  hook?: StatementHook;
  log?: Logger;
  tracing?: Tracing;
  webhooks?: WebhookPorts;
  databaseUrl?: string;
  /** For transactional tools; `database`: of the test. */
  toolDatabase?: (database: Database) => Promise<ToolDatabase>;
};

export type Fleet = {
  database: Database;
  url: string;
  ports: CommandPorts;
  processes: WorkerProcess[];
  perform<T>(command: AnyCommand<T>): Promise<T>;
  createContext(): Promise<{ workerId: WorkerId; contextId: ContextId }>;
  /** Creates a worker together with its first input. */
  begin(text: string): Promise<Accepted>;
  post(contextId: ContextId, text: string, options?: PostOptions): Promise<Accepted>;
  retry(contextId: ContextId): Promise<Accepted>;
  cancel(jobId: JobId): Promise<void>;
  interrupt(contextId: ContextId, mode: InterruptMode): Promise<JobId | null>;
  /** For a call that is answered from outside. */
  /** A person's decision on all waiting calls: approved unchanged, unless given otherwise. */
  judge(contextId: ContextId, given?: Partial<Judgement>): Promise<{ resolved: ToolCallId[] }>;
  answer(contextId: ContextId, toolCallId: ToolCallId, content: string): Promise<Answered>;
  job(jobId: JobId): Promise<Record<string, unknown>>;
  ended(jobId: JobId): Promise<Record<string, unknown>>;
  /** For as long as the test may take. */
  until(condition: () => Promise<boolean> | boolean): Promise<void>;
  /** Until the processes have released everything that they ran. */
  atRest(): Promise<void>;
  /** Until the processes have also handled all wake-ups: those of contexts that others ran may come late. */
  noWakeUps(): Promise<void>;
  /** The deadline of a waiting job has come. */
  passDeadline(jobId: JobId): Promise<void>;
  history(contextId: ContextId): Promise<Message[]>;
  query(text: string): Promise<Record<string, unknown>[]>;
  startProcess(lifetime?: Lifetime): Promise<WorkerProcess>;
  close(): Promise<void>;
};

const WORKER = {
  tenantId: DEFAULT_TENANT,
  user: null,
  name: 'test',
  title: null,
  role: null,
  config: {},
  parentWorkerId: null,
};

export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const own = options.databaseUrl === undefined ? await createTestDatabase() : null;
  const url = options.databaseUrl ?? own?.url ?? '';
  const redisUrl = inject('redisUrl');
  const prefix = testPrefix();
  const queue = options.queue === 'deaf' || redisUrl === null ? deaf : redisQueue(redisUrl, prefix, () => undefined);
  const wakeQueue = queue.openWakeQueue();
  const bus = localBus();
  const openOn = (given: DatabaseOptions): Database => (own === null ? openDatabase(url, given) : own.open(given));
  const database = openOn({ max: 4, name: 'test-client' });
  const times = { ...TIMES, ...options.times };
  const ports: CommandPorts = {
    database,
    wakeQueue,
    bus,
    ids,
    times,
    stopGraceMs: times.stopGraceMs,
    boundResult: (content) => content,
  };
  // Calls of models and tools that the test still holds when it closes the fleet end then: a drain would wait for them.
  const closing = new AbortController();
  const closable = (model: Model): Model => ({
    isLoaded: () => model.isLoaded(),
    call: (request, listener, signal) => {
      const both = AbortSignal.any([signal, closing.signal]);
      return endedBy(closing.signal, model.call(request, listener, both));
    },
  });
  const scripted = closable({
    isLoaded: () => true,
    call: async (request, listener, signal) => {
      const outcome = await options.model(request, signal, listener);
      if (outcome.kind === 'done') listener.started();
      return outcome;
    },
  });
  const modelOf = (name: ProviderName): Model | null => {
    if (options.provider === undefined) return scripted;
    const provided = options.provider.models.for(name);
    return provided === null ? scripted : closable(provided);
  };
  const tools = options.tools ?? {};
  const descriptors: ToolDescriptor[] = Object.entries(tools)
    .map(([name, tool]): ToolDescriptor => ({
      name,
      description: '',
      input_schema: { type: 'object' },
      effect: tool.effect ?? 'none',
      on_unknown: tool.on_unknown ?? 'tell',
      answered_by: tool.answered_by ?? 'tool',
    }))
    .sort((a, b) => a.name.localeCompare(b.name));
  const opened: Database[] = [];
  const open = (name: string, max: number): Database => {
    const made = openOn({
      max,
      name,
      limits: FROZEN_LIMITS,
      ...(options.hook === undefined ? {} : { hook: options.hook }),
    });
    opened.push(made);
    return made;
  };
  const toolDatabase = (await options.toolDatabase?.(database)) ?? null;
  const portsOfProcess = () =>
    workerPorts({
      database: open('test-worker', 6),
      toolDatabase,
      openHeartbeatConnection: () => openDatabase(url, { max: 1, name: 'test-beat' }),
      queue,
      wakeQueue,
      bus,
      abilities: {
        model: modelOf,
        keyId: (name) => options.provider?.models.keyId(name) ?? name,
        tools: {
          mayAsk: ({ name }) => (tools[name]?.approval ?? 'never') !== 'never',
          judge: async ({ name }, ruled) => decideApproval(ruled, tools[name]?.approval ?? 'never'),
          async execute(call, signal, services) {
            const tool = tools[call.name];
            if (tool === undefined) return { kind: 'result', content: `no tool ${call.name}`, is_error: true };
            if (tool.endsItself === true) return tool.execute(call, signal, services);
            const both = AbortSignal.any([signal, closing.signal]);
            return endedBy<ToolOutcome>(both, (async () => tool.execute(call, both, services))());
          },
          reconcile: async (call, signal) => tools[call.name]?.reconcile?.(call, signal) ?? { kind: 'unknown' },
          outcomeWaitMs: options.outcomeWaitMs ?? null,
        },
        resolve: (worker, caller, allow) =>
          options.resolve?.(worker, caller, allow) ?? {
            kind: 'served',
            settings: settings({
              model: { provider: options.provider?.name ?? 'simulated', model: 'scripted' },
              tools: descriptors,
              maxSteps: options.maxSteps ?? 50,
              asking: { ...ASKING_DEFAULTS, rules: worker.config.approval ?? [] },
              ...options.settings?.(),
            }),
          },
        published: {
          tools: Object.keys(tools),
          roles: [],
          models: options.provider?.models.configured ?? ['simulated'],
          mcpServers: [],
        },
        team: { ...TEAM_DEFAULTS, ...options.team },
      },
      times,
      ...(options.log === undefined ? {} : { log: options.log }),
      telemetry: { ...NO_TELEMETRY, tracing: options.tracing ?? NO_TELEMETRY.tracing },
      ...(options.webhooks === undefined ? {} : { webhooks: options.webhooks }),
      random: Math.random,
    });
  const processes: WorkerProcess[] = [];
  const startProcess: Fleet['startProcess'] = async (lifetime = {}) => {
    const capacity = { concurrency: options.concurrency ?? 20, reserved: options.reserved ?? 0 };
    const started = await startWorkerProcess(portsOfProcess(), capacity, lifetime);
    processes.push(started);
    return started;
  };
  for (let count = options.processes ?? 1; count > 0; count -= 1) await startProcess();
  // A wake-up before the queue is connected is lost.
  if (queue !== deaf) while (!(await wakeQueue.isReachable())) await sleep(5);

  const expectDone = async <T>(outcome: ReturnType<typeof perform<T>>): Promise<T> => {
    const ended = await outcome;
    if (ended.kind === 'refused') throw new Error(`${ended.code}: ${ended.message}`);
    return ended.value;
  };
  const submit = (contextId: ContextId, text: string | null, { deadlineMs, ...over }: PostOptions = {}) => {
    const content: InputBlock[] | null = text === null ? null : [{ type: 'text', text }];
    const deadline = deadlineMs === undefined ? null : Date.now() + deadlineMs;
    const input = { ...postedInput({ ...over, content, deadline }), contextId };
    return expectDone(perform(ports, submitInput(ports, input)));
  };
  const judge: Fleet['judge'] = async (contextId, given) => {
    const calls = await expectDone(
      perform(
        ports,
        approveCalls(
          { tenantId: DEFAULT_TENANT, contextId },
          {
            toolCallId: null,
            decision: 'approve',
            reason: null,
            input: null,
            remember: null,
            actor: { kind: 'operator', id: null, user: null, onBehalfOf: null },
            ...given,
          },
        ),
      ),
    );
    return { resolved: calls.map(({ id }) => id) };
  };
  const fleet: Fleet = {
    judge,
    database,
    url,
    ports,
    processes,
    startProcess,
    perform: (command) => expectDone(perform(ports, command)),
    createContext: () => expectDone(perform(ports, createWorker(ports, WORKER))),
    async begin(text) {
      const { accepted } = await expectDone(perform(ports, createWorker(ports, WORKER, firstInput(text))));
      if (accepted === null) throw new Error('the worker has no job');
      return accepted;
    },
    post: (contextId, text, extra) => submit(contextId, text, extra),
    retry: (contextId) => submit(contextId, null),
    async cancel(jobId) {
      await expectDone(perform(ports, cancelJob(ports, { tenantId: DEFAULT_TENANT, jobId, reason: null, by: null })));
    },
    async interrupt(contextId, mode) {
      const command = interruptContext(ports, { tenantId: DEFAULT_TENANT, contextId, mode, by: null });
      return (await expectDone(perform(ports, command))).jobId;
    },
    answer: (contextId, toolCallId, content) =>
      expectDone(
        perform(
          ports,
          answerCall(ports, { tenantId: DEFAULT_TENANT, contextId, toolCallId }, { content, isError: false }),
        ),
      ),
    async job(jobId) {
      // With a parameter: it is planned once, however often a test asks.
      const [row] = await database.db.execute(sql`select * from jobs where id = ${jobId}::uuid`);
      if (row === undefined) throw new Error('no such job');
      return row;
    },
    async ended(jobId) {
      await fleet.until(async () => (await fleet.job(jobId))['finished_at'] !== null);
      return fleet.job(jobId);
    },
    async until(condition) {
      for (let ms = 5; !(await condition()); ms = Math.min(ms * 2, 40)) await sleep(ms);
    },
    atRest: () => fleet.until(() => processes.every((process) => process.running() === 0)),
    async noWakeUps() {
      if (queue === deaf || redisUrl === null) return fleet.atRest();
      const wakeUps = new BullQueue(QUEUE_NAME, { prefix: `{${prefix}}`, connection: { url: redisUrl } });
      try {
        await fleet.until(async () => (await wakeUps.getJobCountByTypes('wait', 'active', 'prioritized')) === 0);
      } finally {
        await wakeUps.close();
      }
      await fleet.atRest();
    },
    async passDeadline(jobId) {
      await fleet.query(`update jobs set deadline = now() - interval '1 second' where id = '${jobId}'`);
      await fleet.query(`update contexts c set next_check_at = now() - interval '1 second'
        from jobs j where j.id = '${jobId}' and c.id = j.context_id and c.scheduling_status = 'waiting'`);
    },
    history: (contextId) => readHistory(database.db, { contextId, tenantId: DEFAULT_TENANT }, 'main'),
    query: async (text) => [...(await database.db.execute(text))],
    async close() {
      const drained = Promise.all(processes.map((process) => process.drain()));
      closing.abort();
      await drained;
      await wakeQueue.close();
      await bus.close();
      await toolDatabase?.close();
      await Promise.all(opened.map((made) => made.close()));
      await database.close();
      await own?.drop();
    },
  };
  return fleet;
}

/** A history as one line for each entry: turn, role, and content. */
export function transcript(history: readonly Message[]): string[] {
  return history.map(({ turn, role, content }) => {
    const given = content.map((block) => {
      switch (block.type) {
        case 'text':
        case 'thinking':
          return block.text;
        case 'tool_use':
          return `→${block.name}`;
        case 'tool_result':
          return `←${typeof block.content === 'string' ? block.content : JSON.stringify(block.content)}`;
        case 'image':
        case 'document':
          return block.type;
      }
    });
    return `${turn} ${role}: ${given.join(' ')}`;
  });
}
