/** Begins a session with its first message: creates worker, context and input in one transaction. */
import type { ContextId, WorkerId } from '../../core/ids.ts';
import { submitInput } from '../inputs/submit-input.ts';
import type { Accepted, SubmitInput } from '../inputs/submit-input.ts';
import { done } from '../perform.ts';
import type { Command } from '../perform.ts';
import type { CommandPorts } from '../ports.ts';

/** In a transaction. Refused like `make` and `submitInput`. */
export function beginSession(
  ports: Pick<CommandPorts, 'database' | 'boundResult' | 'ids' | 'times' | 'stopGraceMs'>,
  make: Command<{ workerId: WorkerId; contextId: ContextId }>,
  input: Omit<SubmitInput, 'contextId'>,
): Command<Accepted> {
  return async (tx) => {
    const made = await make(tx);
    if (made.kind === 'refused') return made;
    const submitted = await submitInput(ports, { ...input, contextId: made.value.contextId })(tx);
    return submitted.kind === 'refused'
      ? submitted
      : done(submitted.value, ...made.afterCommit, ...submitted.afterCommit);
  };
}
