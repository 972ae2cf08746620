/** A post that takes the options of an earlier job, such as a retry of it. */
import type { Static } from 'typebox';
import { parseId, type JobId } from '../../../core/ids.ts';
import { findJobOptions, type JobOptionsView } from '../../../db/read/jobs/job-options.ts';
import { toIso } from '../../../core/time.ts';
import type { TracedCaller } from '../../access/reach.ts';
import { invalid, refused } from '../../response/problem.ts';
import type { PostJob, PostMessage } from '../../schemas/messages/message.ts';
import type { ApiPorts } from '../../server/ports.ts';

type Posted = Static<typeof PostMessage> | Static<typeof PostJob>;

/**
 * The same body with the options of the job that `options_of` names, where it gives none itself. `isThere`: whether that
 * job is in the context of the post. Throws `invalid_request`; `forbidden` for tokens, which may give fewer options.
 */
export async function withOptionsOf<Body extends Posted>(
  { database }: Pick<ApiPorts, 'database'>,
  { tenantId, token }: Pick<TracedCaller, 'tenantId' | 'token'>,
  body: Body,
  isThere: (job: JobOptionsView) => boolean,
): Promise<Body> {
  const { options_of: named } = body;
  if (named === undefined) return body;
  if (token !== null)
    throw refused('forbidden', 'A token takes no options of another job. Leave options_of out.', 'options_of');
  if ('delivery' in body && body.delivery === 'steer')
    throw invalid(
      'An input that joins a job takes no options. Leave options_of out, or use another delivery.',
      'options_of',
    );
  const id = parseId<JobId>(named);
  const job = id === null ? null : await findJobOptions(database.db, tenantId, id);
  if (job === null || !isThere(job)) throw invalid(`This context has no job with the id ${named}.`, 'options_of');
  return { ...optionsOf(job), ...body };
}

function optionsOf({ priority, metadata, maxSteps, outputSchema, deadline, webhookId }: JobOptionsView) {
  return {
    priority,
    metadata,
    ...(maxSteps !== null && { max_steps: maxSteps }),
    ...(outputSchema !== null && { output_schema: outputSchema }),
    ...(deadline !== null && { deadline: toIso(deadline) }),
    ...(webhookId !== null && { webhook: { id: webhookId } }),
  };
}
