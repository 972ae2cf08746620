/** Makes jobs of submissions, context by context. */
import { mapConcurrent } from '../../commands/map-concurrent.ts';
import { perform } from '../../commands/perform.ts';
import {
  turnSubmissions,
  type ReadSubmissions,
  type RefusedSubmission,
} from '../../commands/submissions/turn-submissions.ts';
import type { JobId } from '../../core/ids.ts';
import { submissionError } from '../../core/submissions/submission.ts';
import { errorCode, isOfData } from '../../db/connection/database-errors.ts';
import {
  TOGETHER_BYTES,
  contextsWithSubmissions,
  failSubmission,
  firstSubmissions,
  postponeSubmissions,
  type DueSubmissions,
} from '../../db/submissions/due-submissions.ts';
import type { WorkerState } from '../process/ports.ts';

/** Submissions of one batch, over all contexts, and of one context. */
const MOST = 50;
const OF_CONTEXT = 20;
/** When those of a context are tried again after an error, in milliseconds. */
const AGAIN_MS = 10_000;

type State = Pick<WorkerState, 'database' | 'wakeQueue' | 'bus' | 'peers' | 'log' | 'metrics' | 'readSubmission'>;

/** Makes jobs of one batch. Returns how long until the next one, in milliseconds. */
export async function turnDueSubmissions(state: State): Promise<number> {
  const due = await contextsWithSubmissions(state.database.db, MOST);
  const isSmall = ({ mostBytes }: DueSubmissions): boolean => mostBytes <= TOGETHER_BYTES;
  const turned = await mapConcurrent(due.filter(isSmall), (one) => turnOrPostpone(state, one));
  // A body is read before its lock is tried: one large one at a time is in memory.
  for (const one of due.filter((large) => !isSmall(large))) turned.push(await turnOrPostpone(state, one));
  // What is left was taken by other processes, or was postponed.
  return turned.some((taken) => taken > 0) ? 0 : Infinity;
}

/** Those that fail do not hold up other contexts. Returns how many became jobs, or never will. */
async function turnOrPostpone(state: State, due: DueSubmissions): Promise<number> {
  try {
    return await turnFirst(state, due, OF_CONTEXT);
  } catch (error) {
    if (isOfData(error)) return turnAlone(state, due);
    await postpone(state, due, error);
    return 0;
  }
}

/** After a submission of the batch could not be stored: only the first. If it is the one, it is refused. */
async function turnAlone(state: State, due: DueSubmissions): Promise<number> {
  const { db } = state.database;
  const [first] = await firstSubmissions(db, due, 1);
  try {
    return await turnFirst(state, due, 1);
  } catch (error) {
    if (first === undefined || !isOfData(error)) {
      await postpone(state, due, error);
      return 0;
    }
    state.log.warn({ err: error, job_id: first.id }, 'could not store a submission');
    const message = `PostgreSQL refused to store it (${errorCode(error)}): an id is already used, or a value is not valid.`;
    const refusal = submissionError({ code: 'invalid_request', message });
    await failSubmission(db, first.id, refusal);
    reportRefused(state, due, { jobId: first.id, code: refusal.code });
    return 1;
  }
}

async function turnFirst(state: State, due: DueSubmissions, most: number): Promise<number> {
  const { database, peers } = state;
  const read = new Map<JobId, Awaited<ReturnType<State['readSubmission']>>>();
  // Before the transaction: it may need another connection.
  for (const { id, body } of await firstSubmissions(database.db, due, most))
    read.set(id, await state.readSubmission(due, body));
  return turnRead(state, due, read, { queueLimit: peers.queuedInputs, tenantLimits: peers.tenantLimits });
}

async function turnRead(
  state: State,
  due: DueSubmissions,
  read: ReadSubmissions,
  limits: Parameters<typeof turnSubmissions>[0],
): Promise<number> {
  if (read.size === 0) return 0;
  const outcome = await perform(state, turnSubmissions(limits, due, read));
  if (outcome.kind === 'refused') throw new Error(`Submissions were refused together: ${outcome.message}`);
  for (const one of outcome.value.refused) reportRefused(state, due, one);
  return outcome.value.taken;
}

/** After the commit. Lists of jobs do not show them. */
function reportRefused(
  { log, metrics }: State,
  { tenantName }: DueSubmissions,
  { jobId, code }: RefusedSubmission,
): void {
  log.warn({ job_id: jobId, tenant: tenantName, code }, 'a submission became no job');
  metrics.submissionRefused(code);
}

async function postpone({ database, log }: State, due: DueSubmissions, error: unknown): Promise<void> {
  log.warn({ err: error, context_id: due.contextId }, 'could not make jobs of the submissions of a context');
  await postponeSubmissions(database.db, due, AGAIN_MS);
}
