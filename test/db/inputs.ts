// Inputs with every field filled in: the argument of the commands that submit one, and of the statement that stores it.
// A test names only the fields it is about.
import type { FirstInput, SubmitInput } from '../../src/commands/inputs/posted-input.ts';
import type { InputBlock } from '../../src/core/conversation/blocks.ts';
import { DEFAULT_TENANT, type ContextId } from '../../src/core/ids.ts';
import type { Submission } from '../../src/db/write/inputs/submit.ts';
import { ids } from '../../src/platform/ids.ts';

type PostedInput = Omit<SubmitInput, 'contextId'>;

const CONTENT: InputBlock[] = [{ type: 'text', text: 'hi' }];

const COMMON = {
  tenantId: DEFAULT_TENANT,
  branch: null,
  priority: 5,
  metadata: {},
  user: null,
  maxSteps: null,
  outputSchema: null,
  traceParent: null,
  deadline: null,
  queueLimit: 1_000,
  full: null,
  by: null,
} satisfies Partial<PostedInput & Submission>;

/** An input as a client posts it. The caller adds the context. */
export function postedInput(over: Partial<PostedInput> = {}): PostedInput {
  return { ...COMMON, content: CONTENT, delivery: 'queue', ...over };
}

/** The input that a new worker begins with. */
export function firstInput(text: string, over: Partial<FirstInput> = {}): FirstInput {
  return {
    content: [{ type: 'text', text }],
    priority: 5,
    metadata: {},
    user: null,
    maxSteps: null,
    outputSchema: null,
    traceParent: null,
    deadline: null,
    ...over,
  };
}

/** An input with a job of its own, for a context of the default tenant. */
export function submissionTo(contextId: ContextId, over: Partial<Submission> = {}): Submission {
  return {
    ...COMMON,
    contextId,
    jobId: ids.next(),
    input: { messageId: ids.next(), content: CONTENT },
    compaction: null,
    mayAnswer: true,
    onlyIfIdle: false,
    ...over,
  };
}
