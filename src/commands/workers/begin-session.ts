/** Begins a session with its first message: creates worker, context and input in one transaction. */
import type { ContextId, WorkerId } from '../../core/ids.ts';
import { submitInput } from '../inputs/submit-input.ts';
import type { Accepted, SubmitInput, SubmitPorts } from '../inputs/posted-input.ts';
import { done, performWithin, type Command } from '../perform.ts';

/** Refused like `make` and `submitInput`. */
export function beginSession(
  ports: SubmitPorts,
  make: Command<{ workerId: WorkerId; contextId: ContextId }>,
  input: Omit<SubmitInput, 'contextId'>,
): Command<Accepted> {
  return async (tx) => {
    const made = await make(tx);
    if (made.kind === 'refused') return made;
    const { contextId } = made.value;
    const submitted = await performWithin(tx, submitInput(ports, { ...input, contextId }));
    return submitted.kind === 'refused'
      ? submitted
      : done(submitted.value, ...made.afterCommit, ...submitted.afterCommit);
  };
}
