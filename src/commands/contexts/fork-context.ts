/**
 * Forks a context: creates a new context with copies of the messages, for parallel work. The source is not affected and
 * may be running: only what is complete is copied.
 */
import { closed } from '../../core/conversation/branch.ts';
import type { ContextId, MessageId, WorkerId } from '../../core/ids.ts';
import { copyContext, keepContext } from '../../db/write/contexts/fork.ts';
import { horizonOf } from '../../db/write/contexts/fork-points.ts';
import { noContext } from '../inputs/refusals.ts';
import type { Target } from './change-branches.ts';
import { forkPoint, pointBehind } from './fork-point.ts';
import { done, type Command } from '../perform.ts';
import type { CommandPorts } from '../ports.ts';

type ForkContext = Target & {
  /** A message of any branch; null: all of the active branch. */
  fromMessageId: MessageId | null;
  /** Undefined: the title of the source. */
  title: string | null | undefined;
};

/** Refused: `not_found`, `invalid_request`, `context_busy`. */
export function forkContext(
  { ids }: Pick<CommandPorts, 'ids'>,
  { fromMessageId, title, ...source }: ForkContext,
): Command<{ contextId: ContextId }> {
  return async (tx) => {
    const horizon = (await keepContext(tx, source)) ? await horizonOf(tx, source) : null;
    if (horizon === null) return noContext(source);
    const point =
      fromMessageId === null
        ? await forkPoint(tx, source, horizon, { branch: horizon.activeBranch, messageId: null })
        : await pointBehind(tx, source, horizon, fromMessageId);
    if ('code' in point) return point;
    const contextId = ids.next<ContextId>();
    const spans = closed(point.from.spans, point.seq);
    await copyContext(tx, source, { spans, contextId, workerId: ids.next<WorkerId>(), title });
    return done({ contextId });
  };
}
