/** What commands are given: the database, and the means to tell others after the commit. */
import type { Bus } from '../bus/bus.ts';
import type { ResultPart } from '../core/blocks.ts';
import type { Ids } from '../core/ids.ts';
import type { Database } from '../db/client.ts';
import type { LeaseTimes } from '../db/processes.ts';
import type { WakeQueue } from '../queue/wake-queue.ts';

export type CommandPorts = {
  database: Database;
  wakeQueue: WakeQueue;
  bus: Bus;
  ids: Ids;
  times: LeaseTimes;
  /** How long the holder of a context has to answer a wish before a sweep settles for it, in milliseconds. */
  stopGraceMs: number;
  /** What is brought from outside as the result of a call, within the limits of any result. */
  boundResult(content: string | ResultPart[]): string | ResultPart[];
};
