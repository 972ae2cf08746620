/**
 * The limits of the operator's file, by their names there. Only what this release honours is taken: a limit that is
 * read and then ignored would be worse than none.
 */
import { integer, members, optional } from './member.ts';
import type { Member } from './member.ts';
import { LONGEST_TIMER_MS } from './timer.ts';

/** What the file sets of core's `LIMITS`; the others hold as they are. */
export type SetLimits = Partial<Record<'queuedInputs' | 'maxSteps' | 'toolResult' | 'toolTimeoutMs', number>>;

const SHAPE = {
  what: 'limits',
  known: ['queued_inputs', 'max_steps', 'tool_result', 'tool_timeout_ms'],
  notBuilt: ['sizes', 'depth', 'depths', 'children', 'workers', 'concurrency', 'retention'],
};

export function parseLimits(member: Member): SetLimits | null {
  const of = members(member, SHAPE);
  if (of === null) return null;
  const queuedInputs = optional(of('queued_inputs'), integer(1, 1_000_000));
  const maxSteps = optional(of('max_steps'), integer(1, 1_000_000));
  const toolResult = optional(of('tool_result'), integer(100, 10_000_000));
  const toolTimeoutMs = optional(of('tool_timeout_ms'), integer(1, LONGEST_TIMER_MS));
  return {
    ...(queuedInputs !== null && { queuedInputs }),
    ...(maxSteps !== null && { maxSteps }),
    ...(toolResult !== null && { toolResult }),
    ...(toolTimeoutMs !== null && { toolTimeoutMs }),
  };
}
