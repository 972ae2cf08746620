/** Runs one role in memory: the product's own loop, tools and rules, without services. */
import type { Block } from '../core/conversation/blocks.ts';
import { MAIN } from '../core/conversation/branch.ts';
import { NOTHING_COMPACTED } from '../core/compaction/compacted.ts';
import {
  DEFAULT_TENANT,
  DEFAULT_TENANT_NAME,
  type ContextId,
  type JobId,
  type MessageId,
  type WorkerId,
} from '../core/ids.ts';
import type { JsonObject } from '../core/json.ts';
import type { QueuedJob } from '../core/run/job.ts';
import type { OutputSchema } from '../core/run/output.ts';
import type { Snapshot } from '../core/run/snapshot.ts';
import type { ToolTransaction } from '../core/tools/transaction.ts';
import type { Millis } from '../core/time.ts';
import { parseUser } from '../core/access/user.ts';
import { ALL_ALLOWED } from '../core/workers/allowed-names.ts';
import type { Settings } from '../core/workers/settings.ts';
import { createSimulated } from '../llm/simulated/model.ts';
import { ids } from '../platform/ids.ts';
import type { RoleDefinition } from '../tools/config/define.ts';
import { abilitiesOf, workerConfigOf } from './abilities.ts';
import { expectTools } from './known-tools.ts';
import { VirtualClock } from './memory/clock.ts';
import { MemoryContext } from './memory/context.ts';
import { peopleOf, type AnswerCall, type Approve } from './memory/people.ts';
import { MemoryDurable } from './memory/durable.ts';
import { Reports } from './memory/reports.ts';
import { NO_TEAM } from './memory/team.ts';
import { isWithoutEnd, MemoryWorker } from './memory/worker.ts';
import { toRoleRun, type RoleRun } from './role-run.ts';
import type { StandIns } from './stand-ins.ts';
import { modelOf, type SimulatedModel } from './simulated-model.ts';

/** For whom the job runs; tools get it. */
export type RunFor = {
  /** The name of the tenant. Default: `default`. */
  tenant?: string | undefined;
  /** The end user. Default: none. */
  user?: string | undefined;
  /** Of the job. Default: `{}`. */
  metadata?: JsonObject | undefined;
};

export type RunRoleOptions = RunFor & {
  /** The name of a role in the config. Default: none, so that the worker's own config and the defaults apply. */
  role?: string | undefined;
  /** The config of the worker: it comes before the role, as in the API. */
  worker?: RoleDefinition | undefined;
  /** The input, or several that are answered one after the other. The result is that of the last job. */
  input: string | readonly string[];
  /** Answers the prompts, whatever model the settings name. Default: the input scripts the model (`say: …`). */
  model?: SimulatedModel | undefined;
  /** Decides on calls that wait for approval. Without it, they wait. */
  approve?: Approve | undefined;
  /** Answers questions (`ask_user`), and runs the calls of client tools. Without it, they wait. */
  answer?: AnswerCall | undefined;
  /** Functions that run in place of tools, by name. They keep the schema, the effect and the approval of the tool. */
  standIns?: StandIns | undefined;
  /** What transactional tools get as `tx`. You begin and end it: to roll it back after each test keeps nothing. */
  tx?: ToolTransaction | undefined;
  /** A JSON Schema for the answer of the job, or `false`: any text. */
  output_schema?: OutputSchema | undefined;
  /** The job ends as incomplete after this time. Waits pass at once, but count. */
  timeout_s?: number | undefined;
  /** The time at which the run begins. Default: now. */
  now?: Date | undefined;
};

/**
 * Runs a role to the end of its job, with the loop, the tools and the rules of the product, in memory: no PostgreSQL, no
 * Redis, no key. Waits take no time. `config`: what `nightshift.config.ts` exports.
 *
 * A job that fails is a result (`status: 'failed'`, `error`). A call that waits for a decision or an answer that the
 * options do not give leaves the job `waiting`. Throws a `TestKitError` only if the config or the options are not valid, or if
 * `approve` returns an input that is not.
 */
export async function runRole(config: object, options: RunRoleOptions): Promise<RoleRun> {
  const { role = null, worker = {}, input, model, standIns = {}, tx = null, now = new Date() } = options;
  const abilities = abilitiesOf(config, { standIns, recorded: null });
  expectTools(abilities.settings, 'standIns', Object.keys(standIns));
  const settings = abilities.resolve(role, workerConfigOf(config, worker));
  const clock = new VirtualClock(now.getTime());
  const context = new MemoryContext(emptyContext(settings, role, options));
  const reports = new Reports();
  const durable = new MemoryDurable(new Set(abilities.settings.roles.keys()), tx);
  const memoryWorker = new MemoryWorker({
    context,
    clock,
    model: model === undefined ? createSimulated(ids) : modelOf(model, ids),
    tools: abilities.runner,
    reports,
    durable,
    people: peopleOf(abilities.registry, options),
    team: NO_TEAM,
    isAtEnd: isWithoutEnd,
  });
  let last: JobId | null = null;
  for (const text of typeof input === 'string' ? [input] : input) {
    const job = toJob([{ type: 'text', text }], options, clock.now());
    context.enqueue(job);
    last = job.id;
    await memoryWorker.bringToRest();
  }
  return toRoleRun({ context, reports, durable, jobId: last, beganAt: now.getTime(), endedAt: clock.now() });
}

/** A context that was never used. */
export function emptyContext(settings: Settings, role: string | null, { tenant, user }: RunFor): Snapshot {
  const contextId = ids.next<ContextId>();
  return {
    lease: {
      contextId,
      tenantId: DEFAULT_TENANT,
      tenantName: tenant ?? DEFAULT_TENANT_NAME,
      user: parseUser(user) ?? '',
      notifies: false,
      epoch: 0,
    },
    allow: ALL_ALLOWED,
    isTenantActive: true,
    workerId: ids.next<WorkerId>(),
    rootContextId: contextId,
    state: 'Idle',
    stopped: false,
    wakeSeq: 0,
    controlSeq: 0,
    failedClaims: 0,
    activeBranch: MAIN,
    job: null,
    next: null,
    queued: 0,
    steers: [],
    calls: [],
    history: [],
    compacted: NOTHING_COMPACTED,
    unread: null,
    workerName: role ?? 'worker',
    role,
    serving: { kind: 'served', settings },
  };
}

type JobOptions = RunFor & Pick<RunRoleOptions, 'output_schema' | 'timeout_s'>;

export function toJob(
  content: Block[],
  { user, metadata = {}, output_schema: outputSchema, timeout_s: timeoutS }: JobOptions,
  now: Millis,
): QueuedJob {
  return {
    kind: 'input',
    id: ids.next<JobId>(),
    messageId: ids.next<MessageId>(),
    content,
    branch: MAIN,
    maxSteps: null,
    outputSchema: outputSchema ?? null,
    deadline: timeoutS === undefined ? null : now + timeoutS * 1_000,
    stopRequest: null,
    metadata: structuredClone(metadata),
    user: parseUser(user),
    traceParent: null,
  };
}
