/** Dependencies and shared state of a worker process. */
import type { Logger } from 'pino';
import type { RunSignals } from '../../agent/run-signals.ts';
import type { Early, RunPorts } from '../../agent/run.ts';
import type { Ended } from '../../commands/inputs/end-unread.ts';
import type { CommandPorts } from '../../commands/ports.ts';
import type { SchedulePorts } from '../../commands/schedules/post-run.ts';
import type { ReadSubmission } from '../../commands/submissions/turn-submissions.ts';
import type { Bus } from '../../bus/bus.ts';
import type { Append, Committed } from '../../core/run/append.ts';
import type { ContextId, ProcessId, RunIds, TenantId } from '../../core/ids.ts';
import type { Model, ProviderName } from '../../core/model/model.ts';
import type { CheckOutput } from '../../core/run/output.ts';
import type { IdleTimeouts, Serving } from '../../core/workers/settings.ts';
import type { Mailbox, Snapshot } from '../../core/run/snapshot.ts';
import type { PeerLimits } from '../../core/workers/peer-limits.ts';
import type { Refusal } from '../../core/errors.ts';
import type { NamedOutbox } from '../../core/submissions/outbox.ts';
import type { Json } from '../../core/json.ts';
import type { Allow, AllowedTenant } from '../../core/access/tenant.ts';
import type { Millis } from '../../core/time.ts';
import type { Telemetry } from '../../core/tracing/telemetry.ts';
import type { ToolCaller, ToolRunner } from '../../core/tools/tool.ts';
import type { Database } from '../../db/connection/client.ts';
import type { ToolDatabase } from '../../db/tool-transactions/tool-database.ts';
import type { WorkerDefinition } from '../../db/run/mailbox/worker.ts';
import type { LeaseTimes } from '../../db/processes/processes.ts';
import type { WakeQueue, Queue } from '../../queue/wake-queue.ts';
import type { ToolServers } from '../../tools/registry/servers.ts';
import type { Receivers } from '../../webhooks/receivers.ts';
import type { SecretBox } from '../../webhooks/secret-box.ts';
import type { ReportWriter } from '../reports/report-writer.ts';
import type { Appender } from '../run/appender.ts';
import type { SubscriberRegistry } from './subscriber-registry.ts';
import type { DatabaseClock } from './clock.ts';
import type { FollowUps } from './follow-ups.ts';
import type { Fingerprints } from '../run/fingerprints.ts';
import type { Tenants } from './tenants.ts';
import type { Throttles } from './throttles.ts';
import type { WorkerMetrics } from './metrics/metrics.ts';
import type { Registry } from './registry.ts';
import type { Slots } from '../scheduling/slots.ts';
import type { TeamAbilities } from '../run/team-abilities.ts';

/** The models, tools and roles of this process. */
export type Abilities = {
  model(provider: ProviderName): Model | null;
  /** Identifies the provider's key without revealing it. The id is the same in every process that has this key. */
  keyId(provider: ProviderName): string;
  tools: ToolRunner;
  checkOutput: CheckOutput;
  /** `caller`: the context that the worker serves; null: it has none yet. `allow`: what its tenant may use. */
  resolve(worker: WorkerDefinition, caller: ToolCaller | null, allow: Allow): Serving;
  published: { tools: string[]; roles: string[]; models: string[]; mcpServers: string[] };
  team: TeamAbilities;
};

export type WorkerTimes = LeaseTimes & {
  heartbeatIntervalMs: number;
  sweepMs: number;
  stopGraceMs: number;
  /** Time to drain after SIGTERM, in milliseconds. */
  drainMs: number;
};

/** When contexts are archived and purged. */
type Expiry = {
  /** Idle timeouts of the roles in the config file. */
  timeouts: IdleTimeouts;
  /** How long archived contexts are kept, in days; null: forever. */
  archivedDays: number | null;
  /** The folder of workspaces, which are removed with their contexts; null: there are none. */
  workspaces: string | null;
};

/** The outboxes of services, and how to connect to them. */
export type OutboxPorts = { all: readonly NamedOutbox[]; open(outbox: NamedOutbox): Database };

/** `secretBox` null: the process sends to no webhook. */
export type WebhookPorts = { receivers: Receivers; secretBox: SecretBox | null };

export type WorkerPorts = Pick<CommandPorts, 'boundResult'> & {
  database: Database;
  openHeartbeatConnection(): Database;
  /** For transactional tools; null: this process has none. */
  toolDatabase: ToolDatabase | null;
  /** `application_name` of all connections of this process. They are terminated when it is declared dead. */
  sessionName?: string;
  queue: Queue;
  wakeQueue: WakeQueue;
  bus: Bus;
  ids: RunIds;
  abilities: Abilities;
  /** MCP servers. */
  servers: Pick<ToolServers, 'start' | 'stop'>;
  times: WorkerTimes;
  expiry: Expiry;
  peers: PeerLimits;
  /** The role of a worker that a schedule creates. */
  scheduledRole: SchedulePorts['roleOf'];
  /** Checks the body of a submission. */
  readSubmission(tenant: AllowedTenant, body: Json): Promise<ReadSubmission | Refusal>;
  outboxes: OutboxPorts;
  webhooks: WebhookPorts;
  telemetry: Telemetry;
  log: Logger;
  random(): number;
};

/** A context to claim, and the process that claims it. */
export type Claim = {
  contextId: ContextId;
  /** Null: not known before the claim. */
  tenantId: TenantId | null;
  owner: ProcessId;
  /** Reading it may have killed a process, or it took too long: the claim commits, and is counted, before it is read. */
  isSuspect: boolean;
  /** Its wake-up was the first one of its context, which has no history then, unless it is a fork or an import. */
  isNew: boolean;
  signals: RunSignals;
  /** For the model call that begins while the claim commits. `snapshot`: the state after that commit. */
  portsFor(snapshot: Snapshot): CallPorts;
};

/** What a model call needs to begin. */
export type CallPorts = Pick<RunPorts, 'clock' | 'fingerprint' | 'log' | 'model'>;

/** A context that this process cannot serve, with its mailbox as read. */
export type Skipped = { kind: 'skipped'; mailbox: Mailbox; at: Millis };

/** `began`: the append that begins or resumes a job; null: there was nothing to begin. */
export type Opened = {
  kind: 'opened';
  snapshot: Snapshot;
  began: { transition: Append; outcome: Committed } | null;
  /** The model call that began while the claim committed; null: none did. */
  early: Early | null;
};

export type Claimed = Opened | Skipped | Ended;

/** Null: the claim was a noop. */
export type Claimer = (claim: Claim) => Promise<Claimed | null>;

/** State that the parts of a running worker process share. */
export type WorkerState = WorkerPorts & {
  appender: Appender;
  claimer: Claimer;
  registry: Registry;
  slots: Slots;
  subscribers: SubscriberRegistry;
  clock: DatabaseClock;
  throttles: Throttles;
  tenants: Tenants;
  followUps: Pick<FollowUps, 'look'>;
  webhookSender: { look(): void };
  fingerprints: Pick<Fingerprints, 'of'>;
  reports: Pick<ReportWriter, 'add' | 'changed' | 'writeSoon' | 'stop'>;
  metrics: WorkerMetrics;
  /** The id of the current registration; null: there is none, and nothing is claimed. */
  identity(): ProcessId | null;
};
