/**
 * Calls that concern other workers, handled in one append: it creates children, starts waits, and answers what can be
 * answered at once. A call that cannot be carried out gets an error result and has no effect.
 */
import { engage } from '../../core/transitions/engage.ts';
import type { WorkerResults } from '../../core/transitions/waits.ts';
import type { ServedJob, Snapshot } from '../../core/run/snapshot.ts';
import type { OpenCall } from '../../core/tools/tool-call.ts';
import { isForWorkers } from '../../core/run/wait.ts';
import { parseWorkerAsk } from '../../core/workers/worker-asks.ts';
import { inputOf } from './invocation.ts';
import { append, follow, readMailbox, reread, type After, type Run } from '../run.ts';
import type { AskingCall } from './team.ts';

/** `left`: the calls still to run. Null: decide again. */
type Engaged = { snapshot: Snapshot; left: readonly OpenCall[] | null };

export async function engageWorkers(
  run: Run,
  snapshot: Snapshot,
  { job, settings }: ServedJob,
  calls: readonly OpenCall[],
): Promise<Engaged> {
  const asking = calls
    .filter(({ name }) => settings.tools.some((tool) => tool.name === name && tool.answered_by === 'workers'))
    .flatMap((call) => askingCalls(snapshot, call));
  if (asking.length === 0) return { snapshot, left: calls };
  const arranged = await run.team.arrange(snapshot, job, settings, asking);
  const transition = engage(snapshot, job, arranged);
  const outcome = await append(run, transition);
  if (outcome.kind !== 'committed') return { snapshot: await reread(run, snapshot, outcome), left: null };
  const after = (await follow(run, snapshot, transition, outcome)) ?? snapshot;
  return { snapshot: after, left: calls.filter(({ id }) => !asking.some(({ call }) => call.id === id)) };
}

/**
 * Checked before parking: a job that ended while the wait for it began may not have sent a wake-up. Null: nothing
 * new.
 */
export async function recountWaits(run: Run, snapshot: Snapshot): Promise<After> {
  const waiting = snapshot.calls
    .filter(isForWorkers)
    .flatMap((call) => askingCalls(snapshot, call))
    .filter(({ ask }) => ask.kind === 'wait');
  if (waiting.length === 0) return null;
  return (await run.team.recount(snapshot, waiting)) ? readMailbox(run, snapshot) : null;
}

export async function outcomesOf(run: Run, snapshot: Snapshot, over: readonly OpenCall[]): Promise<WorkerResults> {
  const waited = over.filter(isForWorkers).flatMap((call) => askingCalls(snapshot, call));
  return waited.length === 0 ? new Map() : run.team.outcomes(snapshot, waited);
}

/** Empty if the arguments are invalid: the tool itself reports what is wrong with them. */
function askingCalls(snapshot: Snapshot, call: OpenCall): AskingCall[] {
  const ask = parseWorkerAsk(call.name, inputOf(snapshot, call));
  return ask === null ? [] : [{ call, ask }];
}
