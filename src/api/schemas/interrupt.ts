/** Interrupts on the wire. */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { INTERRUPT_MODES, JOB_STATUSES } from '../../core/job.ts';
import { EFFECTS } from '../../core/tool.ts';
import { CALL_STATUSES } from '../../core/tool-call.ts';
import { Instant, Uuid, nullable, oneOf, ref, strict } from './common.ts';
import { LONGEST_WAIT_MS } from './job.ts';

/** How long the answer to an interrupt waits for the end of the job unless told otherwise, in milliseconds. */
export const TIMEOUT_MS = 5_000;

export const Interrupt = strict(
  {
    mode: Type.Optional(
      oneOf(
        INTERRUPT_MODES,
        'What becomes of what the job added. discard (the default): its side is taken back, the inputs stay. rollback: the inputs too. keep: what was finished stays.',
      ),
    ),
    wait_ms: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: LONGEST_WAIT_MS,
        default: TIMEOUT_MS,
        description: 'Answers when the job ended, and after so many milliseconds at the latest.',
      }),
    ),
  },
  { $id: 'Interrupt' },
);

export const BegunCall = strict(
  { tool_call_id: Uuid, name: Type.String(), effect: oneOf(EFFECTS), status: oneOf(CALL_STATUSES) },
  { $id: 'BegunCall', description: 'A tool call that had begun: what it did is not undone.' },
);

export const Interruption = strict(
  {
    job_id: nullable(Uuid),
    status: nullable(oneOf(JOB_STATUSES)),
    removed_messages: Type.Array(Uuid),
    effects: Type.Array(ref(BegunCall)),
    requested_at: nullable(Instant),
    stopped_at: nullable(Instant),
  },
  {
    $id: 'Interruption',
    description: 'What became of it so far. Of an idle context everything is null or empty.',
  },
);
export type Interruption = Static<typeof Interruption>;
