/** The bodies of submissions: what a service stores in its own transaction. They are no part of the HTTP API. */
import { Type, type Static } from 'typebox';
import { ref, nullable, plainText, strict } from '../../../schema/build.ts';
import { RoleName, WorkerConfig } from '../../../schema/config.ts';
import { UserName, Uuid } from '../common.ts';
import { Content, ofAnyJob, ofJob } from '../messages/message.ts';

/** `traceparent`: the span of the service that was active. */
const COMMON = {
  job_id: Uuid,
  message_id: Uuid,
  context_id: Uuid,
  traceparent: Type.Optional(Type.String({ maxLength: 200 })),
};

/** Creates a worker, its context and its first job. */
export const WorkerSubmission = strict({
  ...COMMON,
  worker_id: Uuid,
  name: plainText(200, 1),
  user: Type.Optional(UserName),
  role: Type.Optional(nullable(RoleName)),
  config: Type.Optional(ref(WorkerConfig)),
  input: strict({ content: Content, ...ofAnyJob }),
});
export type WorkerSubmission = Static<typeof WorkerSubmission>;

/** Adds an input to a context that exists, or that an earlier submission creates. */
export const ContextSubmission = strict({ ...COMMON, input: strict({ content: Content, ...ofJob }) });
export type ContextSubmission = Static<typeof ContextSubmission>;
