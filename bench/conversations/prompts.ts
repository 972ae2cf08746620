/** Builds a prompt from a stored history, in this process: the database read of a claim, and the assembly. */
import { parseId, DEFAULT_TENANT, type ContextId } from '../../src/core/ids.ts';
import { assemble } from '../../src/core/conversation/prompt.ts';
import { openDatabase } from '../../src/db/connection/client.ts';
import { readHistory } from '../../src/db/run/history.ts';
import type { Long } from '../nightshift/history.ts';
import type { System } from '../system.ts';
import { monotonic } from '../talk.ts';
import type { Operation, Samples } from './samples.ts';

const TIMES = 5;

/** Linear in the history, because all of it has to be read and sent. */
const linear = (name: string): Operation => ({ name, unit: 'ms', from: 10, bound: null });
const READ = linear('history read, main');
const READ_DEEP = linear('history read, a branch at depth 10');
const ASSEMBLED = linear('a prompt assembled');
const ASSEMBLED_AGAIN = linear('a prompt assembled again, one message later');

export async function readPrompts({ place: { databaseUrl } }: System, long: Long, samples: Samples): Promise<void> {
  const read = long.depth === 0 ? READ : long.depth === 10 ? READ_DEEP : null;
  const contextId = parseId<ContextId>(long.contextId);
  if (read === null || contextId === null) return;
  const database = openDatabase(databaseUrl, { max: 1, name: 'bench' });
  try {
    const place = { contextId, tenantId: DEFAULT_TENANT };
    await readHistory(database.db, place, long.branch);
    for (let count = 0; count < TIMES; count += 1) {
      const began = monotonic();
      const history = await readHistory(database.db, place, long.branch);
      const have = monotonic();
      if (history.length !== long.length) throw new Error(`${history.length} messages were read of ${long.length}.`);
      samples.add(read, long.length, [have - began]);
      if (long.depth > 0) continue;
      assemble(history.slice(0, -1));
      const once = monotonic();
      samples.add(ASSEMBLED, long.length, [once - have]);
      assemble(history);
      samples.add(ASSEMBLED_AGAIN, long.length, [monotonic() - once]);
    }
  } finally {
    await database.close();
  }
}
