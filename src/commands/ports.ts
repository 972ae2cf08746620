/** What commands are given: the database, and the means to tell others after the commit. */
import type { Bus } from '../bus/bus.ts';
import type { Ids } from '../core/ids.ts';
import type { Database } from '../db/client.ts';
import type { LeaseTimes } from '../db/processes.ts';
import type { Bell } from '../queue/doorbell.ts';

export type CommandPorts = {
  database: Database;
  bell: Bell;
  bus: Bus;
  ids: Ids;
  times: LeaseTimes;
  /** How long the holder of a context has to answer a wish before a sweep settles for it, in milliseconds. */
  stopGraceMs: number;
};
