/** Turns a posted message into a queued job, for contexts and workers. */
import type { Static } from 'typebox';
import { NORMAL } from '../../commands/inputs/enqueue.ts';
import type {
  Accepted as AcceptedJob,
  FirstInput,
  JobOptions,
  SubmitInput,
  SubmitPorts,
} from '../../commands/inputs/posted-input.ts';
import { delayInput } from '../../commands/inputs/delay-input.ts';
import { submitInput } from '../../commands/inputs/submit-input.ts';
import type { AnyCommand } from '../../commands/perform.ts';
import { withWebhook } from '../../commands/webhooks/with-webhook.ts';
import type { Refusal } from '../../core/errors.ts';
import type { InputBlock } from '../../core/conversation/blocks.ts';
import type { OutputSchema } from '../../core/run/output.ts';
import type { Delay } from '../../core/run/delay.ts';
import { parseId, type ContextId, type WebhookId } from '../../core/ids.ts';
import { dottedPath } from '../../schema/fault.ts';
import { outputSchemaFaults } from '../../schema/output-schema.ts';
import { actorOf, type Requester } from '../access/actor.ts';
import { actingUser, type Caller, type TracedCaller } from '../access/reach.ts';
import { invalid, refused } from '../response/problem.ts';
import { answeredBy } from './write.ts';
import { parseInstant } from './instant.ts';
import type { Accepted, FirstMessage, NamedWebhook, PostJob, PostMessage } from '../schemas/messages/message.ts';

type Posted =
  | Static<typeof PostMessage>
  | (Static<typeof PostJob> & { content?: never; delivery?: never; after_s?: never; at?: never });

/** Where a job is queued, how many may be queued there, and who asks for it. */
type Target = Pick<SubmitInput, 'tenantId' | 'contextId' | 'queueLimit' | 'full'> & TracedCaller & Requester;

type Poster = Pick<TracedCaller, 'token' | 'user' | 'traceParent'>;

type Options = Omit<Static<typeof PostMessage>, 'content'>;

/** Without content, the job runs on the existing history. */
export function submitPosted(ports: SubmitPorts, target: Target, posted: Posted): AnyCommand<Accepted> {
  const content = posted.content === undefined ? null : toBlocks(posted.content);
  const options = toSubmitInput(target, posted);
  const delay = content === null ? null : delayOf(posted, '');
  const command =
    content === null || delay === null
      ? submitInput(ports, { ...options, content })
      : delayInput(ports, { ...options, content }, delay);
  const submit = notifying(command, target, posted.webhook, (accepted) => accepted);
  return answeredBy(submit, async (_, accepted) => toAccepted(accepted));
}

/** The same command; if the message names a webhook, it receives events of the job. `jobOf` null: there is none. */
export function notifying<Posted>(
  command: AnyCommand<Posted>,
  { tenantId, token }: Caller,
  webhook: Static<typeof NamedWebhook> | undefined,
  jobOf: (posted: Posted) => Pick<AcceptedJob, 'contextId' | 'jobId'> | null,
): AnyCommand<Posted> {
  if (webhook === undefined) return command;
  if (token !== null) throw refused('forbidden', 'A token names no webhook. Leave webhook out.', 'webhook');
  const id = parseId<WebhookId>(webhook.id);
  if (id === null) throw invalid(`No webhook has the id ${webhook.id}.`, 'webhook.id');
  return withWebhook(command, { tenantId, id }, jobOf);
}

/** `full`: why the tenant may have no more jobs, or no more content; null: it may. */
export function queueOf(
  { config }: { config: { queueLimit: number } },
  { tenantId, token, user, traceParent, credential, key }: TracedCaller & Requester,
  contextId: ContextId,
  full: Refusal | null,
): Target {
  return { tenantId, token, user, traceParent, credential, key, contextId, queueLimit: config.queueLimit, full };
}

export function toSubmitInput(
  { tenantId, contextId, queueLimit, full, ...asker }: Target,
  posted: Options,
): Omit<SubmitInput, 'content'> {
  if (posted.delivery === 'steer' && posted.output_schema !== undefined)
    throw invalid(
      'An input that joins a job does not change its output_schema. Leave it out, or use another delivery.',
      'output_schema',
    );
  return {
    tenantId,
    contextId,
    delivery: posted.delivery ?? 'queue',
    branch: posted.branch ?? null,
    ...toJobOptions(asker, posted, ''),
    by: actorOf(asker, posted.user),
    queueLimit,
    full,
  };
}

/** The first input is of the user of its worker. */
export function toFirstInput(caller: Poster, posted: Static<typeof FirstMessage>): FirstInput {
  return { content: toBlocks(posted.content), ...toJobOptions(caller, posted, 'input.') };
}

/** Options that are not given get their defaults. `within`: the path of the message in the body, with a dot. */
function toJobOptions(
  { token, user, traceParent }: Poster,
  { priority = NORMAL, metadata = {}, user: named, max_steps, output_schema, deadline }: Options,
  within: '' | 'input.',
): Omit<JobOptions, 'content'> {
  if (token !== null && priority < NORMAL)
    throw refused('forbidden', `A token asks for no priority before ${NORMAL}, the usual one.`, 'priority');
  return {
    priority,
    metadata: { ...metadata, ...token?.metadata },
    user: actingUser({ token, user }, named),
    maxSteps: max_steps ?? null,
    outputSchema: parseOutputSchema(token, output_schema, within),
    deadline: parseInstant(deadline, `${within}deadline`),
    traceParent,
  };
}

/** A schema is part of what the prompt begins with, as the config is, which a token cannot set. */
function parseOutputSchema(
  token: Caller['token'],
  schema: OutputSchema | undefined,
  within: '' | 'input.',
): OutputSchema | null {
  if (token !== null && schema !== undefined)
    throw refused(
      'forbidden',
      'A token gives no output_schema. Leave it out, or set it in the role.',
      `${within}output_schema`,
    );
  const at = within === '' ? ['output_schema'] : ['input', 'output_schema'];
  const [fault] = outputSchemaFaults(schema, at);
  if (fault !== undefined) throw invalid(fault.message, dottedPath(fault.path));
  return schema ?? null;
}

/** Null: the job is not delayed. `within`: the path of the message in the body, with a dot. */
export function delayOf({ after_s, at }: Pick<Options, 'after_s' | 'at'>, within: '' | 'input.'): Delay | null {
  if (after_s !== undefined && at !== undefined)
    throw invalid(`Give ${within}after_s or ${within}at, not both.`, `${within}at`);
  if (after_s !== undefined) return { kind: 'after', seconds: after_s };
  const time = parseInstant(at, `${within}at`);
  return time === null ? null : { kind: 'at', at: time };
}

export function toBlocks(content: string | InputBlock[]): InputBlock[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

export function toAccepted({ jobId, messageId, contextId, status, after }: AcceptedJob): Accepted {
  return {
    job_id: jobId,
    message_id: messageId,
    context_id: contextId,
    status,
    stream_url: streamUrl(contextId, after),
  };
}

/** The event stream from the input on. */
function streamUrl(contextId: ContextId, after: number): string {
  return `/api/contexts/${contextId}/events?after=${after}`;
}
