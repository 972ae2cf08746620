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
import type { Model } from '../core/model/model.ts';
import type { Serving } from '../core/workers/settings.ts';
import { createSimulated } from '../llm/simulated/model.ts';
import { ids } from '../platform/ids.ts';
import type { RoleDefinition } from '../tools/config/define.ts';
import { abilitiesOf, workerConfigOf, type Abilities } from './abilities.ts';
import { TestKitError } from './error.ts';
import { expectTools } from './known-tools.ts';
import { VirtualClock } from './memory/clock.ts';
import { MemoryContext } from './memory/context.ts';
import { peopleOf, type AnswerCall, type Approve } from './memory/people.ts';
import { MemoryDurable } from './memory/durable.ts';
import { Reports } from './memory/reports.ts';
import { MemoryTree, type MakeMember, type MemberOf } from './memory/tree.ts';
import { memoryTeam } from './memory/tree-store.ts';
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

/** What `runRole` runs, and what stands for models and people. */
export type RunRoleOptions = RunFor & {
  /** The name of a role in the config. Default: none, so that the worker's own config and the defaults apply. */
  role?: string | undefined;
  /** The config of the worker: it comes before the role, as in the API. */
  worker?: RoleDefinition | undefined;
  /** The input, or several that are answered one after the other. The result is that of the last job. */
  input: string | readonly string[];
  /** Answers the prompts, whatever model the settings name. Default: the input scripts the model (`say: …`). */
  model?: SimulatedModel | undefined;
  /**
   * Answers the prompts of the workers that this one creates, by name, else by role. Default: their input scripts the
   * model. Each key must be a role of the config, or the name of a worker that the run creates.
   */
  models?: Readonly<Record<string, SimulatedModel>> | undefined;
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
 * `approve` returns an input that is not. That a key of `models` is unknown is found at the end.
 */
export async function runRole(config: object, options: RunRoleOptions): Promise<RoleRun> {
  const { role = null, worker = {}, input, standIns = {}, now = new Date() } = options;
  const abilities = abilitiesOf(config, { standIns, recorded: null });
  expectTools(abilities.settings, 'standIns', Object.keys(standIns));
  const own = workerConfigOf(config, worker);
  const settings = abilities.resolve(role, own);
  const clock = new VirtualClock(now.getTime());
  const tree = treeOf(abilities, clock, options);
  const of: MemberOf = { ...newMember(role), config: own };
  const first = tree.add(of, { kind: 'served', settings });
  let last: JobId | null = null;
  for (const text of typeof input === 'string' ? [input] : input) {
    const job = toJob([{ type: 'text', text }], options, clock.now());
    first.context.enqueue(job);
    last = job.id;
    await tree.bringToRest();
  }
  expectWorkers(options.models ?? {}, [...abilities.settings.roles.keys()], tree);
  return toRoleRun({ ...first, tree, jobId: last, beganAt: now.getTime(), endedAt: clock.now() });
}

function treeOf(abilities: Abilities, clock: VirtualClock, options: RunRoleOptions): MemoryTree {
  const { team, serve, settings, registry, runner } = abilities;
  const rules = { abilities: { team, resolve: serve }, ids, clock };
  const people = peopleOf(registry, options);
  const scripted = createSimulated(ids);
  const modelFor = ({ parent, role, name }: MemberOf): Model => {
    const given = parent === null ? options.model : ownOf(options.models ?? {}, name, role);
    return given === undefined ? scripted : modelOf(given, ids);
  };
  const make: MakeMember = (of, serving, tree) => {
    const context = new MemoryContext(emptyContext(of, serving, options), (append) => tree.committed(of, append));
    const reports = new Reports();
    const durable = new MemoryDurable(new Set(settings.roles.keys()), options.tx ?? null);
    const worker = new MemoryWorker({
      context,
      clock,
      model: modelFor(of),
      tools: runner,
      reports,
      durable,
      people,
      team: memoryTeam(rules, tree, of),
      isAtEnd: isWithoutEnd,
    });
    return { ...of, context, worker, reports, durable };
  };
  return new MemoryTree(clock, make, ({ workerId, role, config }) =>
    serve({ workerId, role, definition: null, config }, null, ALL_ALLOWED),
  );
}

function ownOf<T>(by: Readonly<Record<string, T>>, name: string, role: string | null): T | undefined {
  const key = [name, role].find((one) => one !== null && Object.hasOwn(by, one)) ?? null;
  return key === null ? undefined : by[key];
}

/** Known only at the end: workers get their names from the model. Throws a `TestKitError`. */
function expectWorkers(models: object, roles: readonly string[], { members }: MemoryTree): void {
  const workers = members.flatMap(({ parent, name }) => (parent === null ? [] : [name]));
  const unknown = Object.keys(models).find((key) => !roles.includes(key) && !workers.includes(key));
  if (unknown === undefined) return;
  throw new TestKitError(
    'unknown_role',
    `models: no role and no worker of this run has the name ${JSON.stringify(unknown)}. Roles: ${listed(roles)}. Workers: ${listed(workers)}.`,
  );
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? 'none' : [...new Set(names)].join(', ');
}

/** The worker that the test runs. */
export function newMember(role: string | null): Omit<MemberOf, 'config'> {
  const name = role ?? 'worker';
  return { workerId: ids.next<WorkerId>(), contextId: ids.next<ContextId>(), name, role, depth: 0, parent: null };
}

/** A context that was never used. */
export function emptyContext(
  { workerId, contextId, name, role }: Omit<MemberOf, 'config'>,
  serving: Serving,
  { tenant, user }: RunFor,
): Snapshot {
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
    workerId,
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
    workerName: name,
    role,
    serving,
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
