/** What a worker process is given. */
import type { Logger } from 'pino';
import type { Bus } from '../bus/bus.ts';
import type { ProcessId, RunIds } from '../core/ids.ts';
import type { Model, ProviderName } from '../core/model.ts';
import type { Serving } from '../core/settings.ts';
import type { ToolRunner } from '../core/tool.ts';
import type { Database } from '../db/client.ts';
import type { WorkerDefinition } from '../db/mailbox.ts';
import type { LeaseTimes } from '../db/processes.ts';
import type { Bell, Queue } from '../queue/doorbell.ts';
import type { Audience } from './audience.ts';
import type { DatabaseClock } from './clock.ts';
import type { Gates } from './gates.ts';
import type { WorkerMetrics } from './metrics.ts';
import type { Registry } from './registry.ts';

/** What this process can serve. */
export type Abilities = {
  model(provider: ProviderName): Model | null;
  /** Names the key that a provider is called with, alike in every process that has it; holds none. */
  keyId(provider: ProviderName): string;
  tools: ToolRunner;
  resolve(worker: WorkerDefinition): Serving;
  published: { tools: string[]; roles: string[]; models: string[] };
};

export type WorkerTimes = LeaseTimes & {
  beatMs: number;
  sweepMs: number;
  stopGraceMs: number;
  /** From SIGTERM to the end of everything, in milliseconds. */
  drainMs: number;
};

export type WorkerPorts = {
  database: Database;
  /** A connection of its own, for beats. */
  openBeatConnection(): Database;
  queue: Queue;
  bell: Bell;
  bus: Bus;
  ids: RunIds;
  abilities: Abilities;
  times: WorkerTimes;
  log: Logger;
  random(): number;
};

/** What the parts of a running worker process share. */
export type WorkerState = WorkerPorts & {
  registry: Registry;
  audience: Audience;
  clock: DatabaseClock;
  gates: Gates;
  metrics: WorkerMetrics;
  /** This incarnation; null while it has none: nothing is claimed then. */
  identity(): ProcessId | null;
};
