// Values of the core with every field filled in; a test names only the fields it is about.
import type { AppendOutcome, Append } from '../../src/core/run/append.ts';
import type { Block, ToolUseBlock } from '../../src/core/conversation/blocks.ts';
import { NOTHING_COMPACTED } from '../../src/core/compaction/compacted.ts';
import { COMPACTION_DEFAULTS } from '../../src/core/compaction/settings.ts';
import type { Fingerprint } from '../../src/core/model/fingerprint.ts';
import { ASKING_DEFAULTS } from '../../src/core/run/policy.ts';
import {
  DEFAULT_TENANT,
  DEFAULT_TENANT_NAME,
  type ContextId,
  type JobId,
  type MessageId,
  type RunIds,
  type ToolCallId,
  type WorkerId,
} from '../../src/core/ids.ts';
import type { ActiveJob, InterruptMode, QueuedJob, StopRequest } from '../../src/core/run/job.ts';
import type { Message } from '../../src/core/conversation/message.ts';
import { ALL_ALLOWED } from '../../src/core/workers/allowed-names.ts';
import type { ModelAnswer } from '../../src/core/model/model.ts';
import type { Settings } from '../../src/core/workers/settings.ts';
import type { Snapshot } from '../../src/core/run/snapshot.ts';
import type { Effect, ToolDescriptor } from '../../src/core/tools/tool.ts';
import type { OpenCall } from '../../src/core/tools/tool-call.ts';
import { NO_USAGE } from '../../src/core/money/usage.ts';

type RequestTimes = Pick<StopRequest, 'reason' | 'requestedAt' | 'deliveredAt'>;

export const NOW = 1_700_000_000_000;

/** The `number`th id of any kind: a UUID that shows its number. */
export function id<T>(number: number): T {
  return `00000000-0000-7000-8000-${number.toString(16).padStart(12, '0')}` as T;
}

/** Ids that count from `first`; ids of answers are made of the last digits of their job's. */
export function countingIds(first = 1_000): RunIds {
  let count = first;
  return {
    next: <T>() => id<T>(count++),
    answer: (jobId, step) => id<MessageId>(2 ** 40 + Number.parseInt(jobId.slice(-6), 16) * 1_000 + step),
  };
}

export const JOB = id<JobId>(1);
export const OTHER_JOB = id<JobId>(2);

export function job(over: Partial<ActiveJob> = {}): ActiveJob {
  return {
    id: JOB,
    kind: 'input',
    status: 'running',
    branch: 'main',
    turn: 1,
    attempt: 1,
    failures: 0,
    retryAt: null,
    lastFailure: null,
    steps: 0,
    maxSteps: null,
    outputSchema: null,
    traceParent: null,
    corrections: 0,
    deadline: null,
    usage: NO_USAGE,
    stopRequest: null,
    asked: null,
    metadata: {},
    user: null,
    ...over,
  };
}

export function queuedInput(over: Partial<Extract<QueuedJob, { kind: 'input' }>> = {}): QueuedJob {
  return {
    id: OTHER_JOB,
    kind: 'input',
    branch: 'main',
    maxSteps: null,
    outputSchema: null,
    traceParent: null,
    deadline: null,
    stopRequest: null,
    metadata: {},
    user: null,
    messageId: id<MessageId>(20),
    content: [{ type: 'text', text: 'next' }],
    ...over,
  };
}

export function queuedRetry(): QueuedJob {
  return {
    id: OTHER_JOB,
    kind: 'retry',
    branch: 'main',
    maxSteps: null,
    outputSchema: null,
    traceParent: null,
    deadline: null,
    stopRequest: null,
    metadata: {},
    user: null,
  };
}

export function cancelRequest(over: Partial<RequestTimes> = {}): StopRequest {
  return { kind: 'cancel', reason: 'enough', requestedAt: NOW, deliveredAt: null, by: null, ...over };
}

export function interruptRequest(mode: InterruptMode): StopRequest {
  return { kind: 'interrupt', mode, reason: null, requestedAt: NOW, deliveredAt: null, by: null };
}

export function call(over: Partial<OpenCall> = {}): OpenCall {
  return {
    id: id<ToolCallId>(50),
    messageId: id<MessageId>(12),
    jobId: JOB,
    ordinal: 0,
    name: 'search',
    effect: 'none',
    onUnknown: 'tell',
    status: 'pending',
    wait: null,
    reply: null,
    approval: null,
    ...over,
  };
}

export function tool(name: string, effect: Effect = 'none'): ToolDescriptor {
  return {
    name,
    description: '',
    input_schema: { type: 'object' },
    effect,
    on_unknown: 'tell',
    answered_by: 'tool',
  };
}

export function settings(over: Partial<Settings> = {}): Settings {
  return {
    model: { provider: 'simulated', model: 'm' },
    streaming: true,
    systemPrompt: '',
    mode: 'act',
    tools: [],
    maxTokens: null,
    contextLimit: 200_000,
    compaction: COMPACTION_DEFAULTS,
    pinned: [],
    maxSteps: 10,
    outputSchema: null,
    outputRetries: 2,
    parameters: {},
    asking: ASKING_DEFAULTS,
    ...over,
  };
}

export function userMessage(seq: number, over: Partial<Message> = {}): Message {
  return {
    id: id<MessageId>(100 + seq),
    seq,
    role: 'user',
    type: 'text',
    turn: 'u1',
    content: [{ type: 'text', text: 'hi' }],
    jobId: JOB,
    model: null,
    ...over,
  };
}

export function assistantMessage(seq: number, over: Partial<Message> = {}): Message {
  return {
    ...userMessage(seq),
    role: 'assistant',
    turn: 'a1',
    content: [{ type: 'text', text: 'hello' }],
    model: { modelId: 'm', providerId: 'simulated', usage: NO_USAGE, finishReason: 'stop' },
    ...over,
  };
}

export function toolUse(number: number, name = 'search'): ToolUseBlock {
  return { type: 'tool_use', id: id<ToolCallId>(number), name, input: {} };
}

export function toolMessage(seq: number, callId: ToolCallId, over: Partial<Message> = {}): Message {
  return {
    ...userMessage(seq),
    role: 'tool',
    type: 'tool_result',
    turn: 'a1',
    content: [{ type: 'tool_result', tool_use_id: callId, content: 'found', is_error: false }],
    ...over,
  };
}

/** Of a first request: it contains no answer. */
export function fingerprint(over: Partial<Fingerprint> = {}): Fingerprint {
  return {
    upto: 1,
    model: 'anthropic/c',
    tools: 'tools',
    listed: 'tools',
    system: 'system',
    parameters: 'parameters',
    messages: 'messages',
    before: null,
    ...over,
  };
}

export function given(over: Partial<ModelAnswer> = {}): ModelAnswer {
  return {
    content: [{ type: 'text', text: 'hello' }],
    finishReason: 'stop',
    usage: {
      input_tokens: 10,
      output_tokens: 5,
      cache_read_tokens: 1,
      cache_write_tokens: 2,
      cost_nanos: null,
    },
    modelId: 'm-2026',
    responseId: null,
    ...over,
  };
}

/** An idle context with a supported config and no tools. */
export function snapshot(over: Partial<Snapshot> = {}): Snapshot {
  return {
    lease: {
      contextId: id<ContextId>(90),
      tenantId: DEFAULT_TENANT,
      tenantName: DEFAULT_TENANT_NAME,
      user: '',
      notifies: false,
      epoch: 3,
    },
    allow: ALL_ALLOWED,
    isTenantActive: true,
    workerId: id<WorkerId>(91),
    rootContextId: id<ContextId>(90),
    state: 'Idle',
    stopped: false,
    wakeSeq: 4,
    controlSeq: 5,
    failedClaims: 0,
    activeBranch: 'main',
    job: null,
    next: null,
    queued: 0,
    steers: [],
    calls: [],
    history: [],
    compacted: NOTHING_COMPACTED,
    unread: null,
    workerName: 'test',
    role: null,
    serving: { kind: 'served', settings: settings() },
    ...over,
  };
}

/** A context in the middle of its first job, before its model call. */
export function running(over: Partial<Snapshot> = {}): Snapshot {
  return snapshot({ state: 'AwaitingLLMResponse', job: job(), history: [userMessage(2)], ...over });
}

/** The result of `append` in the store where no other writer interfered. */
export function committed(
  { entries }: Append,
  before: Snapshot,
  headSeq: number,
): Extract<AppendOutcome, { kind: 'committed' }> {
  return {
    kind: 'committed',
    followUp: false,
    met: [],
    firstSeq: headSeq + 1,
    headSeq: headSeq + entries.length,
    wakeSeq: before.wakeSeq,
    controlSeq: before.controlSeq,
    at: 0,
  };
}

export function text(plain: string): Block {
  return { type: 'text', text: plain };
}
