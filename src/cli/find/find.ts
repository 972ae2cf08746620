/** Finds workers, contexts and jobs by their ids, by parts of their ids, and workers by their names. */
import { NightshiftError, type Client, type Context, type Worker } from '../../client/index.ts';
import { CommandError, EXIT } from '../exit.ts';
import { first } from '../list.ts';
import { oneLine } from '../terminal/safe.ts';
import { ago } from '../terminal/time.ts';
import { hasPart, isId, isPartOfId } from './ids.ts';
import { PAGE, SEARCHED, ambiguous, pickId, rowsWith, type Candidate, type Kind } from './pick.ts';

type JobRow = { id: string; status: string; created_at: string; context_id: string };

function jobsOf(client: Client): Kind<JobRow> {
  return {
    one: 'job',
    where: 'the newest 1,000 jobs',
    lists: '`nightshift jobs --json`',
    rows: () => client.jobs.list({ limit: PAGE }),
    idOf: ({ id }) => id,
    about: ({ status, created_at }) => `job, ${status}, created ${ago(created_at)} ago`,
  };
}

/** The id of the job that is named. A whole id is not looked up. */
export function findJobId(client: Client, named: string): Promise<string> {
  return pickId(named, jobsOf(client));
}

function contextsOf(client: Client): Kind<Context> {
  return {
    one: 'context',
    where: 'the newest 1,000 contexts that are not archived',
    lists: '`nightshift contexts --json`',
    rows: () => client.contexts.list({ limit: PAGE }),
    idOf: ({ id }) => id,
    about: (context) => contextCandidate(context).about,
  };
}

/** The id of the context that is named. A whole id is not looked up. */
export function findContextId(client: Client, named: string): Promise<string> {
  return pickId(named, contextsOf(client));
}

function contextCandidate({ id, worker_name, created_at }: Context): Candidate {
  return { id, about: `context of ${oneLine(worker_name)}, created ${ago(created_at)} ago` };
}

function workerCandidate({ id, name, created_at }: Pick<Worker, 'id' | 'name' | 'created_at'>): Candidate {
  return { id, about: `worker ${oneLine(name)}, created ${ago(created_at)} ago` };
}

/** Finds a worker by id, by a part of its id, or by name. Throws, listing the ids, if several have the name or the part. */
export async function findWorker(client: Client, named: string): Promise<Worker> {
  if (isId(named)) return client.workers.get(named);
  if (!isPartOfId(named)) return onlyOf(named, await workersNamed(client, named));
  const [contexts, withName] = await Promise.all([newestContexts(client), workersNamed(client, named)]);
  const withPart = contexts
    .filter(({ worker_id }) => hasPart(worker_id, named) && withName.every(({ id }) => id !== worker_id))
    .map(ofContext);
  const [only] = withPart;
  if (only === undefined) return onlyOf(named, withName);
  if (withPart.length + withName.length > 1) throw ambiguous(named, [...withName, ...withPart].map(workerCandidate));
  return client.workers.get(only.id);
}

function newestContexts(client: Client): Promise<readonly Context[]> {
  return first(client.contexts.list({ limit: PAGE }), SEARCHED);
}

function ofContext({ worker_id, worker_name, created_at }: Context) {
  return { id: worker_id, name: worker_name, created_at };
}

async function workersNamed(client: Client, name: string): Promise<Worker[]> {
  const found: Worker[] = [];
  for await (const worker of client.workers.list({ limit: PAGE })) if (worker.name === name) found.push(worker);
  return found;
}

function onlyOf(name: string, found: readonly Worker[]): Worker {
  const [only, ...others] = found;
  if (only === undefined)
    throw new CommandError(
      EXIT.failed,
      `No worker has the name ${name}, or an id that begins or ends with it. Run nightshift workers to list them.`,
    );
  if (others.length === 0) return only;
  const ids = found.map(({ id, state, created_at }) => `  ${id}  ${state}, created ${created_at}`);
  throw new CommandError(EXIT.failed, `${found.length} workers are named ${name}. Use an id:\n${ids.join('\n')}`);
}

export type Place = {
  contextId: string;
  workerId: string;
  /** Null: the argument named the whole context. */
  jobId: string | null;
};

/** Finds a context by its own id, by the id of one of its jobs, or by the id or name of its worker; ids also by a part. */
export async function findPlace(client: Client, named: string): Promise<Place> {
  if (isId(named)) return placeOfId(client, named);
  if (!isPartOfId(named)) return placeOfWorker(onlyOf(named, await workersNamed(client, named)));
  const found = await placesWith(client, named);
  const [only, ...others] = found;
  if (only === undefined) return placeOfWorker(onlyOf(named, []));
  if (others.length > 0) throw ambiguous(named, found);
  return only.place;
}

/** The context of what is named, whichever of its ids has the part. */
export async function findContextOf(client: Client, named: string): Promise<string> {
  if (isId(named) || !isPartOfId(named)) return (await findPlace(client, named)).contextId;
  const found = await placesWith(client, named);
  const [only] = found;
  if (only === undefined) return placeOfWorker(onlyOf(named, [])).contextId;
  if (found.some(({ place }) => place.contextId !== only.place.contextId)) throw ambiguous(named, found);
  return only.place.contextId;
}

function placeOfWorker({ id, context_id }: Worker): Place {
  return { contextId: context_id, workerId: id, jobId: null };
}

type FoundPlace = Candidate & { place: Place };

/** What has an id with the part, and workers of this name. A context and its worker are one place. */
async function placesWith(client: Client, part: string): Promise<FoundPlace[]> {
  const [contexts, jobs, workers] = await Promise.all([
    newestContexts(client),
    rowsWith(part, () => client.jobs.list({ limit: PAGE })),
    workersNamed(client, part),
  ]);
  const ofNames = workers.map((worker) => ({ ...workerCandidate(worker), place: placeOfWorker(worker) }));
  const ofContexts = contexts
    .filter((one) => hasPart(one.id, part) || hasPart(one.worker_id, part))
    .filter((one) => workers.every(({ id }) => id !== one.worker_id))
    .map((one) => ({
      ...(hasPart(one.id, part) ? contextCandidate(one) : workerCandidate(ofContext(one))),
      place: { contextId: one.id, workerId: one.worker_id, jobId: null },
    }));
  const { about } = jobsOf(client);
  const ofJobs = jobs.map((job) => ({
    id: job.id,
    about: about(job),
    place: { contextId: job.context_id, workerId: job.worker_id, jobId: job.id },
  }));
  return [...ofNames, ...ofContexts, ...ofJobs];
}

async function placeOfId(client: Client, id: string): Promise<Place> {
  const context = await unlessUnknown(client.contexts.get(id));
  if (context !== null) return { contextId: context.id, workerId: context.worker_id, jobId: null };
  const job = await unlessUnknown(client.jobs.get(id));
  if (job !== null) return { contextId: job.context_id, workerId: job.worker_id, jobId: job.id };
  const worker = await unlessUnknown(client.workers.get(id));
  if (worker !== null) return { contextId: worker.context_id, workerId: worker.id, jobId: null };
  throw new CommandError(EXIT.failed, `No context, job or worker has the id ${id}.`);
}

async function unlessUnknown<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof NightshiftError && error.code === 'not_found') return null;
    throw error;
  }
}
