// The small world, with later operations on its conversation: its input was edited, whose answer asked a question; a
// branch was made and deleted; the first answer was retried, and that was cancelled; plans were requested; the branch
// of the edit was compacted.
import type { ToolCallId } from '../../../src/core/ids.ts';
import { ASK_USER } from '../../../src/core/conversation/question.ts';
import { word } from '../clients/inputs.ts';
import { event, message, posted, storedJob, text, returnedBranch, toolResult } from './builders.ts';
import { soundWorld } from './sound-world.ts';
import { soundWebhooks } from './sound-webhooks.ts';
import type { StoredBranch, StoredCall, StoredCompaction } from './stored.ts';
import type { Change, Compact, Posted, Reply, Setting } from './world.ts';

export type Conversation = ReturnType<typeof soundConversation>;

export function soundConversation() {
  const sound = soundWorld();
  const { world, context, main, input, asked: mail, result, answer: last, first } = sound;
  Object.assign(context, {
    head_seq: 26,
    active_branch: 'main-3',
    message_count: 8,
    request_count: 5,
    input_tokens: 50,
    output_tokens: 10,
    stored_bytes: 90,
    config: { ...context.config, mode: 'plan' },
    version: 2,
  });
  const edited: StoredBranch = branch('main-2', 0, [{ branch: 'main-2', after: 8, upto: null }]);
  Object.assign(edited, { message_count: 4, request_count: 3, input_tokens: 30, output_tokens: 6 });
  const again: StoredBranch = branch('main-3', 2, [
    { branch: 'main', after: 0, upto: 2 },
    { branch: 'main-3', after: 20, upto: null },
  ]);
  const instead = onBranch(message('m-3', 12, 'user', [text(`say: ${word('i-3')}`)], 'u1'));
  const use = { type: 'tool_use' as const, id: 'question' as ToolCallId, name: ASK_USER, input: {} };
  const asking = onBranch(message('a-3', 13, 'assistant', [use], 'a1'));
  const reply = onBranch(message('question', 15, 'tool', [toolResult('yes', false, 'question')], 'a1'));
  const answer = onBranch(message('a-4', 16, 'assistant', [text(word('i-3'))], 'a1'));
  const call: StoredCall = {
    id: 'question',
    context_id: 'c',
    job_id: 'job-3',
    message_id: 'a-3',
    name: ASK_USER,
    effect: 'none',
    status: 'completed',
    started_at: null,
    asked: true,
    approval: null,
    approval_at: null,
    reply: { content: 'yes', isError: false },
  };
  const editing = revision(posted('i-3', 'job-3', 'm-3', 10), 'edit', 'm-1', 'main-2');
  editing.script.plays = [
    { calls: [ASK_USER], last: false },
    { calls: [], last: true },
  ];
  const regenerating: Posted = {
    ...revision(posted('i-4', 'job-4', 'none', 22), 'regenerate', 'a-2', 'main-3'),
    cancelled: true,
  };
  if (regenerating.outcome.kind === 'accepted') regenerating.outcome.messageId = null;
  const edit = storedJob('job-3', 'm-3', 3, {
    branch: 'main-2',
    status: 'completed',
    steps: 2,
    input_tokens: 20,
    output_tokens: 4,
    output_message_id: 'a-4',
    started_at: 110,
    finished_at: 150,
  });
  const retry = storedJob('job-4', 'm', 4, {
    branch: 'main-3',
    kind: 'retry',
    message_id: null,
    status: 'cancelled',
    stop_kind: 'cancel',
    stop_requested_at: 220,
    stop_delivered_at: 220,
    stopped_at: 220,
    finished_at: 220,
  });
  const shortening = storedJob('job-5', 'm', 5, {
    branch: 'main-2',
    kind: 'compact',
    message_id: null,
    status: 'completed',
    input_tokens: 10,
    output_tokens: 2,
    started_at: 240,
    finished_at: 260,
  });
  const compacted: StoredCompaction = {
    id: 'compaction',
    context_id: 'c',
    branch: 'main-2',
    seq: 25,
    upto_seq: 16,
    type: 'llm',
    tokens_before: 100,
    tokens_after: 50,
    job_id: 'job-5',
  };
  const compact: Compact = { contextId: 'c', key: 'compact', jobId: 'job-5', outcome: 'taken' };
  const birth = event(9, 'BranchCreated', { branch: 'main-2', parent: 'main', fork_seq: 0 });
  const changes: Change[] = (['create', 'delete'] as const).map((kind) => ({
    contextId: 'c',
    key: kind,
    kind,
    branch: 'side',
    activates: false,
    outcome: 'taken',
  }));
  const given: Reply = {
    contextId: 'c',
    callId: 'question',
    key: 'first',
    content: 'yes',
    outcome: { kind: 'accepted', jobId: 'job-3', messageId: 'question' },
  };
  const late: Reply = { ...given, key: 'second', content: 'no', outcome: { kind: 'refused' } };
  const setting: Setting = {
    contextId: 'c',
    key: 'plans',
    whole: false,
    config: { mode: 'plan' },
    seen: 1,
    version: 2,
  };
  world.inputs.push(editing, regenerating);
  world.changes.push(...changes);
  world.replies.push(given, late);
  world.settings.push(setting);
  world.compacts.push(compact);
  world.compactions.push(compacted);
  world.jobs.push(edit, retry, shortening);
  world.branches.push(edited, again);
  world.messages.push(instead, asking, reply, answer);
  world.calls.push(call);
  world.events.push(
    birth,
    event(10, 'BranchSwitched', { branch: 'main-2' }),
    event(11, 'JobStarted', { job_id: 'job-3', status: 'running', attempt: 1 }),
    event(14, 'ToolCallFinished', { tool_call_id: 'question', name: ASK_USER, status: 'completed' }),
    event(17, 'JobFinished', { job_id: 'job-3', status: 'completed', attempt: 1 }),
    event(18, 'BranchCreated', { branch: 'side', parent: 'main-2', fork_seq: 16 }),
    event(19, 'BranchDeleted', { branch: 'side' }),
    event(20, 'StateChanged', { new_state: 'Idle', job_id: null }),
    event(21, 'BranchCreated', { branch: 'main-3', parent: 'main', fork_seq: 2 }),
    event(22, 'BranchSwitched', { branch: 'main-3' }),
    event(23, 'JobFinished', { job_id: 'job-4', status: 'cancelled', attempt: 0 }),
    event(24, 'JobStarted', { job_id: 'job-5', status: 'running', attempt: 1 }),
    event(25, 'ContextCompacted', {
      compaction_id: 'compaction',
      branch: 'main-2',
      upto_seq: 16,
      tokens_after: 50,
      job_id: 'job-5',
      usage: { input_tokens: 10, output_tokens: 2 },
    }),
    event(26, 'JobFinished', { job_id: 'job-5', status: 'completed', attempt: 1 }),
  );
  const [returned] = world.returned;
  if (returned === undefined) throw new Error('no event was published');
  Object.assign(returned, { messageCount: 8, requestCount: 5, inputTokens: 50, outputTokens: 10 });
  returned.branches = [
    returnedBranch(main, [input, mail, result, last], false),
    returnedBranch(edited, [instead, asking, reply, answer], false),
    returnedBranch(again, [input], true),
  ];
  returned.jobs.push(
    { id: 'job-3', status: 'completed', steps: 2, output: 'a-4', code: null },
    { id: 'job-4', status: 'cancelled', steps: 0, output: null, code: null },
    { id: 'job-5', status: 'completed', steps: 0, output: null, code: null },
  );
  world.streams = [];
  world.replays = [];
  world.webhooks = soundWebhooks(world);
  return {
    ...sound,
    first,
    edited,
    again,
    instead,
    reply,
    conversationAnswer: answer,
    call,
    editing,
    edit,
    retry,
    birth,
    given,
    late,
    setting,
    shortening,
    compacted,
    compact,
  };
}

function branch(name: string, forkSeq: number, spans: StoredBranch['spans']): StoredBranch {
  return {
    context_id: 'c',
    name,
    parent_name: 'main',
    fork_seq: forkSeq,
    spans,
    message_count: 0,
    request_count: 0,
    input_tokens: 0,
    output_tokens: 0,
  };
}

function onBranch(one: ReturnType<typeof message>) {
  return { ...one, branch: 'main-2', job_id: 'job-3', completed_at: 120 };
}

function revision(input: Posted, kind: 'edit' | 'regenerate', messageId: string, made: string): Posted {
  const { outcome } = input;
  if (outcome.kind !== 'accepted') return input;
  return { ...input, revision: { kind, messageId }, outcome: { ...outcome, branch: made } };
}
