/** Finds workers and contexts by id or name. */
import { NightshiftError, type Client, type Worker } from '../client/index.ts';
import { CommandError, EXIT } from './exit.ts';

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export function isId(text: string): boolean {
  return ID.test(text);
}

/** Finds a worker by id or name. Throws, listing the ids, if several workers have the name. */
export async function findWorker(client: Client, named: string): Promise<Worker> {
  if (ID.test(named)) return client.workers.get(named);
  const found: Worker[] = [];
  for await (const worker of client.workers.list({ limit: 200 })) if (worker.name === named) found.push(worker);
  const [only, ...others] = found;
  if (only === undefined)
    throw new CommandError(EXIT.failed, `No worker is named ${named}. Run nightshift workers to list them.`);
  if (others.length === 0) return only;
  const ids = found.map(({ id, state, created_at }) => `  ${id}  ${state}, created ${created_at}`);
  throw new CommandError(EXIT.failed, `${found.length} workers are named ${named}. Use an id:\n${ids.join('\n')}`);
}

export type Place = {
  contextId: string;
  /** Null: the argument named the whole context. */
  jobId: string | null;
};

/** Finds a context by its own id, by the id of one of its jobs, or by the id or name of its worker. */
export async function findPlace(client: Client, named: string): Promise<Place> {
  if (!ID.test(named)) return { contextId: (await findWorker(client, named)).context_id, jobId: null };
  const context = await unlessUnknown(client.contexts.get(named));
  if (context !== null) return { contextId: context.id, jobId: null };
  const job = await unlessUnknown(client.jobs.get(named));
  if (job !== null) return { contextId: job.context_id, jobId: job.id };
  const worker = await unlessUnknown(client.workers.get(named));
  if (worker !== null) return { contextId: worker.context_id, jobId: null };
  throw new CommandError(EXIT.failed, `No context, job or worker has the id ${named}.`);
}

async function unlessUnknown<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof NightshiftError && error.code === 'not_found') return null;
    throw error;
  }
}
