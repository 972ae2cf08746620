/** Edits a past input, or answers it again: on a new branch, which becomes the active one. */
import type { Refusal } from '../../core/errors.ts';
import type { InputBlock } from '../../core/conversation/blocks.ts';
import type { MessageId } from '../../core/ids.ts';
import type { Executor } from '../../db/connection/client.ts';
import type { Horizon } from '../../db/write/contexts/fork-points.ts';
import { hold, leave, type Target } from '../contexts/change-branches.ts';
import { pointBefore, pointOfAnswer, type ForkPoint } from '../contexts/fork-point.ts';
import { performWithin, type Command } from '../perform.ts';
import type { Accepted, SubmitInput, SubmitPorts } from './posted-input.ts';
import { noContext } from './refusals.ts';
import { submitInput } from './submit-input.ts';

export type Regeneration = {
  messageId: MessageId;
  /** Name of the new branch; null: it is generated. */
  name: string | null;
  /** The input of the job; `content` null: the existing input is answered. */
  input: Omit<SubmitInput, 'branch'>;
};

/**
 * If the job is refused, no branch is created. Refused: `not_found`, `invalid_request`,
 * `branch_exists`, `context_busy`, `worker_stopped`, `queue_full`.
 */
export function editInput(
  ports: SubmitPorts,
  regeneration: Regeneration & { input: { content: InputBlock[] } },
): Command<Accepted & { branch: string }> {
  return onBranchOfItsOwn(ports, regeneration, (tx, horizon) =>
    pointBefore(tx, regeneration.input, horizon, regeneration.messageId),
  );
}

/** Refused like `editInput`. */
export function regenerate(ports: SubmitPorts, regeneration: Regeneration): Command<Accepted & { branch: string }> {
  return onBranchOfItsOwn(ports, regeneration, (tx, horizon) =>
    pointOfAnswer(tx, regeneration.input, horizon, regeneration.messageId),
  );
}

function onBranchOfItsOwn(
  ports: SubmitPorts,
  { name, input }: Regeneration,
  pointOf: (tx: Executor, horizon: Horizon) => Promise<ForkPoint | Refusal>,
): Command<Accepted & { branch: string }> {
  return async (tx) => {
    const target: Target = input;
    const horizon = await hold(tx, target);
    if (horizon === null) return noContext(target);
    const point = await pointOf(tx, horizon);
    if ('code' in point) return point;
    const left = await leave(tx, target, { headSeq: horizon.headSeq, point, name, activate: true });
    if (left.kind === 'refused') return left;
    const branch = left.value.name;
    const accepted = await performWithin(tx, submitInput(ports, { ...input, branch }));
    if (accepted.kind === 'refused') return accepted;
    return {
      ...accepted,
      value: { ...accepted.value, branch },
      afterCommit: [...left.afterCommit, ...accepted.afterCommit],
    };
  };
}
