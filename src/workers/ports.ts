/** What a worker process is given. */
import type { Logger } from 'pino';
import type { Ended } from '../commands/end-unread.ts';
import type { CommandPorts } from '../commands/ports.ts';
import type { Bus } from '../bus/bus.ts';
import type { Append, AppendOutcome } from '../core/append.ts';
import type { ContextId, JobId, ProcessId, RunIds } from '../core/ids.ts';
import type { Model, ProviderName } from '../core/model.ts';
import type { IdleTimeouts, Serving } from '../core/settings.ts';
import type { Mailbox, Snapshot } from '../core/snapshot.ts';
import type { PeerLimits } from '../core/peer-limits.ts';
import type { Millis } from '../core/time.ts';
import type { ToolRunner } from '../core/tool.ts';
import type { Database } from '../db/client.ts';
import type { WorkerDefinition } from '../db/mailbox.ts';
import type { LeaseTimes } from '../db/processes.ts';
import type { WakeQueue, Queue } from '../queue/wake-queue.ts';
import type { ToolServers } from '../tools/servers.ts';
import type { Appender } from './appender.ts';
import type { SubscriberRegistry } from './subscriber-registry.ts';
import type { DatabaseClock } from './clock.ts';
import type { FollowUps } from './follow-ups.ts';
import type { Fingerprints } from './fingerprints.ts';
import type { Throttles } from './throttles.ts';
import type { WorkerMetrics } from './metrics.ts';
import type { Registry } from './registry.ts';
import type { TeamAbilities } from './team-abilities.ts';

/** What this process can serve. */
export type Abilities = {
  model(provider: ProviderName): Model | null;
  /** Names the key that a provider is called with, alike in every process that has it; holds none. */
  keyId(provider: ProviderName): string;
  tools: ToolRunner;
  /** `jobId`: of the job that runs, else of the next one; null: there is none. */
  resolve(worker: WorkerDefinition, jobId: JobId | null): Serving;
  published: { tools: string[]; roles: string[]; models: string[]; mcpServers: string[] };
  team: TeamAbilities;
};

export type WorkerTimes = LeaseTimes & {
  heartbeatIntervalMs: number;
  sweepMs: number;
  stopGraceMs: number;
  /** From SIGTERM to the end of everything, in milliseconds. */
  drainMs: number;
};

/** When contexts are put away. */
export type Expiry = {
  /** Of the roles of the config file. */
  timeouts: IdleTimeouts;
  /** How long what was archived is kept, in days; null: for ever. */
  archivedDays: number | null;
  /** The folder of workspaces, which go with their contexts; null: there are none. */
  workspaces: string | null;
};

export type WorkerPorts = Pick<CommandPorts, 'boundResult'> & {
  database: Database;
  /** A connection of its own, for beats. */
  openHeartbeatConnection(): Database;
  /** `application_name` of all connections of this process: they are terminated when it is declared dead. */
  sessionName?: string;
  queue: Queue;
  wakeQueue: WakeQueue;
  bus: Bus;
  ids: RunIds;
  abilities: Abilities;
  /** Run as long as the process does. */
  servers: Pick<ToolServers, 'start' | 'stop'>;
  times: WorkerTimes;
  expiry: Expiry;
  peers: PeerLimits;
  log: Logger;
  random(): number;
};

/** What is to be claimed, by whom. */
export type Claim = {
  contextId: ContextId;
  owner: ProcessId;
  /** The epoch under which a sweep has counted the claim; null: nobody has. */
  counted: number | null;
  /** Told what will stand once the commit that was just sent is there; more than once where that is tried again. */
  opening(snapshot: Snapshot): void;
};

/** What this process cannot serve, as of what stood in its mailbox. */
export type Skipped = { kind: 'skipped'; mailbox: Mailbox; at: Millis };

/** `began`: what was appended to begin or resume a job; null where there was nothing to begin. */
export type Opened = {
  kind: 'opened';
  snapshot: Snapshot;
  began: { transition: Append; outcome: Extract<AppendOutcome, { kind: 'committed' }> } | null;
};

export type Claimed = Opened | Skipped | Ended;

/** Null: the doorbell was surplus. */
export type Claimer = (claim: Claim) => Promise<Claimed | null>;

/** What the parts of a running worker process share. */
export type WorkerState = WorkerPorts & {
  appender: Appender;
  claimer: Claimer;
  registry: Registry;
  subscribers: SubscriberRegistry;
  clock: DatabaseClock;
  throttles: Throttles;
  followUps: Pick<FollowUps, 'look'>;
  fingerprints: Pick<Fingerprints, 'of'>;
  metrics: WorkerMetrics;
  /** This incarnation; null while it has none: nothing is claimed then. */
  identity(): ProcessId | null;
};
