/** Interrupts in the API. */
import { Type, type Static } from 'typebox';
import { INTERRUPT_MODES, JOB_STATUSES } from '../../../core/run/job.ts';
import { EFFECTS } from '../../../core/tools/tool.ts';
import { CALL_STATUSES } from '../../../core/tools/tool-call.ts';
import { Instant, Uuid } from '../common.ts';
import { nullable, oneOf, ref, strict } from '../../../schema/build.ts';
import { LONGEST_WAIT_MS } from '../jobs/job.ts';

/** Default for how long an interrupt waits for the job to finish, in milliseconds. */
export const TIMEOUT_MS = 5_000;

export const Interrupt = strict(
  {
    mode: Type.Optional(
      oneOf(
        INTERRUPT_MODES,
        'What to do with messages of the job. discard (the default): retract answers and tool results, keep inputs. rollback: retract inputs too. keep: keep finished messages.',
      ),
    ),
    wait_ms: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: LONGEST_WAIT_MS,
        default: TIMEOUT_MS,
        description: 'The response waits until the job has finished, at most this many milliseconds.',
      }),
    ),
  },
  { $id: 'Interrupt' },
);

export const BegunCall = strict(
  { tool_call_id: Uuid, name: Type.String(), effect: oneOf(EFFECTS), status: oneOf(CALL_STATUSES) },
  { $id: 'BegunCall', description: 'A tool call that had started. Its effects are not undone.' },
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
    description: 'Progress of the interrupt. For an idle context all fields are null or empty.',
  },
);
export type Interruption = Static<typeof Interruption>;
