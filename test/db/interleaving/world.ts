// One context and the actors around it: processes that run it, clients that send requests to it.
import { setImmediate as nextRound } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { pino } from 'pino';
import { localBus } from '../../../src/bus/local.ts';
import { controlSignalsTo, type Bus } from '../../../src/bus/bus.ts';
import { ids } from '../../../src/platform/ids.ts';
import { answerCall } from '../../../src/commands/calls/answer-call.ts';
import { editInput, regenerate } from '../../../src/commands/inputs/regenerate.ts';
import { createWorker } from '../../../src/commands/workers/create-worker.ts';
import { perform } from '../../../src/commands/perform.ts';
import type { CommandPorts } from '../../../src/commands/ports.ts';
import { submitInput } from '../../../src/commands/inputs/submit-input.ts';
import type { Accepted, Delivery } from '../../../src/commands/inputs/posted-input.ts';
import { compactContext } from '../../../src/commands/contexts/compact-context.ts';
import {
  COMPACTION_DEFAULTS,
  type AskedCompaction,
  type CompactionSettings,
} from '../../../src/core/compaction/settings.ts';
import {
  DEFAULT_TENANT,
  type ContextId,
  type JobId,
  type MessageId,
  type ProcessId,
  type ToolCallId,
} from '../../../src/core/ids.ts';
import type { Model } from '../../../src/core/model/model.ts';
import type { ToolInvocation, ToolOutcome } from '../../../src/core/tools/tool.ts';
import type { Database } from '../../../src/db/connection/client.ts';
import { register } from '../../../src/db/processes/processes.ts';
import type { WorkerState, WorkerTimes } from '../../../src/workers/process/ports.ts';
import { settings } from '../../core/builders.ts';
import { manualState } from '../../workers/manual-process.ts';
import { deaf, workerPorts } from '../../workers/worker-ports.ts';
import { postedInput } from '../inputs.ts';
import type { Lane } from './scheduler.ts';
import { TOOLS, answerTo, resultOf, type Text } from './script.ts';

/**
 * No process dies of a late heartbeat while a schedule runs; a process that is to die is given a heartbeat of an hour
 * ago.
 */
export const TIMES: WorkerTimes = {
  heartbeatIntervalMs: 1_000,
  heartbeatTimeoutMs: 600_000,
  leaseMs: 1_200_000,
  sweepMs: 1_000,
  stopGraceMs: 0,
  drainMs: 1_000,
};

export type Process = { id: ProcessId; lane: Lane; state: WorkerState };

export class World {
  readonly contextId: ContextId;
  readonly bus: Bus = localBus();
  /** Inputs that were accepted: their sender, and their receipt. */
  readonly accepted: { client: string; job: Accepted }[] = [];
  /** Answers to calls that have to be in history. */
  readonly answers: MessageId[] = [];
  readonly processes: Process[] = [];
  /** A client may have changed the order of the queue. */
  moved = false;
  /** How often each call of a `once` tool really ran. */
  readonly ran = new Map<ToolCallId, number>();
  /** Errors that worker processes logged. */
  readonly errors: string[] = [];
  /** Of every later run of the context. */
  room: { contextLimit: number; compaction: CompactionSettings } = {
    contextLimit: 200_000,
    compaction: COMPACTION_DEFAULTS,
  };
  /** How many messages were marked. */
  #marks = 0;

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
          user: null,
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
    const outcome = await perform(
      this.ports(database),
      submitInput(this.ports(database), { ...this.#input(delivery), content: this.#contentOf(text) }),
    );
    if (outcome.kind === 'done') this.accepted.push({ client, job: outcome.value });
  }

  /** Edits an input that was accepted before, or retries it. */
  async retryAnswer(
    database: Database,
    client: string,
    kind: 'edit' | 'regenerate',
    place: number,
    text: Text,
    delivery: Delivery,
  ): Promise<void> {
    const messageId = this.messageAt(place);
    if (messageId === null) return;
    const ports = this.ports(database);
    const content = this.#contentOf(text);
    const input = { ...this.#input(delivery), content };
    const command =
      kind === 'edit'
        ? editInput(ports, { messageId, name: null, input })
        : regenerate(ports, { messageId, name: null, input: { ...input, content: null } });
    const outcome = await perform(ports, command);
    if (outcome.kind === 'done') this.accepted.push({ client, job: outcome.value });
  }

  async compact(database: Database, client: string, asked: AskedCompaction): Promise<void> {
    const { contextId } = this;
    const stopRequest = { tenantId: DEFAULT_TENANT, contextId, asked, queueLimit: 100 };
    const outcome = await perform(this.ports(database), compactContext({ ids }, stopRequest));
    if (outcome.kind !== 'done') return;
    this.accepted.push({
      client,
      job: { jobId: outcome.value.jobId, messageId: null, contextId, status: 'queued', after: 0 },
    });
  }

  /** Whether a compaction was made; by a job that has not ended; of messages that such a job added. */
  async hasCompacted({ db }: Database, by: 'any' | 'running' | 'own'): Promise<boolean> {
    const rows = await db.execute(sql`
      select 1 from compactions k join jobs j on j.id = k.job_id where k.context_id = ${this.contextId}
        and (j.finished_at is null or ${by} = 'any') and (k.upto_seq > j.first_seq or ${by} <> 'own') limit 1`);
    return rows.length > 0;
  }

  /** The text drives the model; the rest of it identifies the input. */
  #contentOf(text: Text) {
    return [{ type: 'text' as const, text: `${text} ${this.#mark()}` }];
  }

  #mark(): string {
    this.#marks += 1;
    return `#${this.#marks};`;
  }

  #input(delivery: Delivery) {
    return { ...postedInput({ delivery }), contextId: this.contextId };
  }

  jobAt(place: number): JobId | null {
    return this.accepted.at(place)?.job.jobId ?? null;
  }

  /** The first call that waits for an answer. */
  async asked({ db }: Database): Promise<ToolCallId | null> {
    const [row] = await db.execute<{ id: ToolCallId }>(sql`
      select id from tool_calls where context_id = ${this.contextId} and status = 'waiting' and reply is null
      order by ordinal limit 1`);
    return row?.id ?? null;
  }

  async answer(database: Database, toolCallId: ToolCallId): Promise<void> {
    const target = { tenantId: DEFAULT_TENANT, contextId: this.contextId, toolCallId };
    const command = answerCall(this.ports(database), target, { content: 'this', isError: false });
    const outcome = await perform(this.ports(database), command);
    if (outcome.kind === 'done') this.answers.push(outcome.value.messageId);
  }

  messageAt(place: number): MessageId | null {
    return this.accepted.at(place)?.job.messageId ?? null;
  }

  /** A live worker process; `receivesSignals`: whether control signals reach it. */
  async startProcess(admin: Database, lane: Lane, capacity: number, receivesSignals: boolean): Promise<Process> {
    const id = ids.next<ProcessId>();
    let claiming: Promise<unknown> = Promise.resolve();
    await register(admin.db, {
      id,
      lockKey: Math.floor(Math.random() * 2 ** 46),
      host: 'h',
      pid: 1,
      version: '0',
      tools: [],
      roles: [],
      models: [],
      mcpServers: [],
    });
    const ports = workerPorts({
      database: lane.database,
      bus: this.bus,
      times: TIMES,
      abilities: {
        model: () => this.#model(lane, () => claiming),
        tools: { execute: (call, signal) => this.#runTool(lane, call, signal) },
        resolve: () => ({
          kind: 'served',
          settings: settings({ tools: TOOLS, maxSteps: 20, ...this.room }),
        }),
      },
      log: pino({ level: 'error' }, { write: (line: string) => this.errors.push(line) }),
    });
    const manual = manualState(ports, id, capacity);
    const state: WorkerState = {
      ...manual,
      claimer(claim) {
        const claimed = manual.claimer(claim);
        claiming = claimed.catch(() => undefined);
        return claimed;
      },
    };
    if (receivesSignals)
      await this.bus.subscribe(controlSignalsTo(id), ({ contextId, controlSeq }) =>
        state.registry.notify(contextId, controlSeq),
      );
    const process: Process = { id, lane, state };
    this.processes.push(process);
    return process;
  }

  /** A model call that starts with its claim takes longer than the commit of that: a lane does one thing at a time. */
  #model(lane: Lane, claiming: () => Promise<unknown>): Model {
    return {
      isLoaded: () => true,
      call: async (request, _listener, signal) => {
        await claiming();
        await lane.pause('the model');
        return signal.aborted ? { kind: 'aborted' } : answerTo(request, this.#mark());
      },
    };
  }

  async #runTool(lane: Lane, call: ToolInvocation, signal: AbortSignal): Promise<ToolOutcome> {
    if (call.name === 'mail') this.ran.set(call.id, (this.ran.get(call.id) ?? 0) + 1);
    await lane.pause(`the tool ${call.name}`);
    if (signal.aborted) return { kind: 'aborted' };
    return { kind: 'result', content: resultOf(call), is_error: false };
  }
}

function portsOf(database: Database, bus: Bus): CommandPorts {
  return {
    database,
    wakeQueue: deaf.openWakeQueue(),
    bus,
    ids,
    times: TIMES,
    stopGraceMs: TIMES.stopGraceMs,
    boundResult: (content) => content,
  };
}

/** Waits until a process has no run. A run has left before its slot is free, and may enter again. */
export async function atRest(registry: WorkerState['registry']): Promise<void> {
  while (registry.running > 0) {
    await registry.emptied();
    await nextRound();
  }
}

/** Everything that was to come later is due now. */
export async function passTime({ db }: Database, contextId: ContextId): Promise<void> {
  await db.execute(sql`
    update jobs set retry_at = clock_timestamp() - interval '1 second'
    where context_id = ${contextId} and retry_at is not null`);
  await db.execute(sql`
    update contexts set next_check_at = clock_timestamp() - interval '1 second'
    where id = ${contextId} and next_check_at is not null and scheduling_status <> 'running'`);
}

/** The process's last heartbeat was an hour ago, and its lock is free. */
export async function stopBeating({ db }: Database, id: ProcessId): Promise<void> {
  await db.execute(sql`update processes set heartbeat_at = clock_timestamp() - interval '1 hour' where id = ${id}`);
}
