/** Why a context does not accept a command. */
import { refuse, type Refusal } from '../../core/errors.ts';
import type { Executor } from '../../db/connection/client.ts';
import { findBranch, lockContext } from '../../db/write/contexts/branches.ts';
import { admission, type Admission } from '../../db/write/inputs/admission.ts';
import type { ContextId, ToolCallId } from '../../core/ids.ts';
import type { SubmitInput } from './posted-input.ts';

/** The context and the limit of any submission to the queue. */
type Submission = Pick<SubmitInput, 'tenantId' | 'contextId' | 'queueLimit' | 'full'>;

export async function whyRefused(executor: Executor, submission: Submission): Promise<Refusal> {
  return refusalOf(await admission(executor, submission.tenantId, submission.contextId), submission);
}

/** `state` null: the context does not exist. */
export function refusalOf(state: Admission | null, { contextId, queueLimit, full }: Submission): Refusal {
  if (state === null) return noContext({ contextId });
  if (state.stopped) return refuse('worker_stopped', 'The worker is stopped. Start it first.');
  if (full !== null) return full;
  if (state.queued >= queueLimit)
    return refuse(
      'queue_full',
      `The context already has ${state.queued} queued inputs. Wait until it has processed some.`,
    );
  return refuse('context_busy', 'A job of this context is unfinished. Cancel it or wait for its end.');
}

/**
 * Read under the lock of the context's row, so that no other command deletes the branch meanwhile. Null: it exists, or
 * none is named.
 */
export async function branchMissing(
  tx: Executor,
  input: Submission & Pick<SubmitInput, 'branch'>,
): Promise<Refusal | null> {
  const { branch } = input;
  if (branch === null) return null;
  if (!(await lockContext(tx, input))) return whyRefused(tx, input);
  return (await findBranch(tx, input, branch)) === null ? noBranch(branch) : null;
}

export function noContext({ contextId }: { contextId: ContextId }): Refusal {
  return refuse('not_found', `No context has the id ${contextId}.`);
}

export function noCall({ contextId, toolCallId }: { contextId: ContextId; toolCallId: ToolCallId }): Refusal {
  return refuse('not_found', `Context ${contextId} has no tool call with the id ${toolCallId}.`);
}

/** `param`: the field that names it; null: the path names it. */
export function noBranch(name: string, param: string | null = 'branch'): Refusal {
  return refuse('not_found', `No branch has the name ${name}.`, param ?? undefined);
}
