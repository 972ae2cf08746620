/**
 * Submits an input message to a context, or a job without one that runs on the current history. Each delivery has a
 * file, whose header lists what is checked, written, sent after the commit, and returned.
 */
import type { AnyCommand } from '../perform.ts';
import { interruptWithInput } from './interrupt-with-input.ts';
import type { Accepted, SubmitInput, SubmitPorts } from './posted-input.ts';
import { queueInput } from './queue-input.ts';
import { steerInput } from './steer-input.ts';

/** Refused: `not_found` (also for the branch), `worker_stopped`, `context_busy`, `queue_full`. */
export function submitInput(ports: SubmitPorts, input: SubmitInput): AnyCommand<Accepted> {
  const { delivery, content } = input;
  switch (delivery) {
    case 'queue':
    case 'reject':
      return queueInput(ports, input);
    case 'steer':
      // Without a message there is nothing that could join a job.
      return content === null ? queueInput(ports, input) : steerInput(ports, { ...input, content });
    case 'interrupt':
      return interruptWithInput(ports, input);
  }
}
