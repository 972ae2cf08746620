/** Dependencies of commands: the database, and what they notify after the commit. */
import type { Bus } from '../bus/bus.ts';
import type { ResultPart } from '../core/conversation/blocks.ts';
import type { Ids } from '../core/ids.ts';
import type { Database } from '../db/connection/client.ts';
import type { LeaseTimes } from '../db/processes/processes.ts';
import type { WakeQueue } from '../queue/wake-queue.ts';

export type CommandPorts = {
  database: Database;
  wakeQueue: WakeQueue;
  bus: Bus;
  ids: Ids;
  times: LeaseTimes;
  /** How long a run has to answer a stop request before a sweep settles its job, in milliseconds. */
  stopGraceMs: number;
  /** Applies the limits of any tool result to one that comes from outside. */
  boundResult(content: string | ResultPart[]): string | ResultPart[];
};
