// A small sound world: for tests that break it.
import { soundKey } from './broken-keys.ts';
import { soundOperated, soundRepairs } from './broken-repairs.ts';
import { soundService } from './broken-service.ts';
import type { ToolCallId } from '../../../src/core/ids.ts';
import { event, message, posted, storedJob, text, returnedBranch, toolResult } from './builders.ts';
import { plainScript, word } from '../clients/inputs.ts';
import type { Schedules } from './schedules.ts';
import { CONFIG } from '../clients/settings.ts';
import { NAMED, soundWebhooks } from './sound-webhooks.ts';
import type { StoredBranch, StoredCall, StoredContext, StoredMessage } from './stored.ts';
import type { OtherTenants, Posted, StreamEvent, World } from './world.ts';

/** A world after two inputs: `i-1` was delayed, sent a mail and completed, `i-2` was cancelled before it began. */
export function soundWorld() {
  const context: StoredContext = {
    id: 'c',
    scheduling_status: 'idle',
    state: 'Idle',
    head_seq: 8,
    lease_owner: null,
    next_check_at: null,
    stopped: false,
    queued: 0,
    steers: 0,
    failed_claims: 0,
    stored_bytes: 50,
    message_count: 4,
    turn_count: 1,
    request_count: 2,
    input_tokens: 20,
    output_tokens: 4,
    active_branch: 'main',
    worker_id: 'w',
    parent_context_id: null,
    detached: false,
    config: { ...CONFIG },
    version: 1,
  };
  const first: Posted = {
    ...posted('i-1', 'job-1', 'm-1', 0),
    delay: { seconds: 0.005, sent: 0, answered: 5 },
    webhook: NAMED,
  };
  const second = { ...posted('i-2', 'job-2', 'm-2', 1), cancelled: true };
  const done = storedJob('job-1', 'm-1', 1, {
    status: 'completed',
    steps: 2,
    input_tokens: 20,
    output_tokens: 4,
    output_message_id: 'a-2',
    starts_at: 9,
    started_at: 10,
    finished_at: 50,
  });
  const cancelled = storedJob('job-2', 'm-2', 2, {
    status: 'cancelled',
    stop_kind: 'cancel',
    stop_requested_at: 20,
    stop_delivered_at: 20,
    stopped_at: 20,
    finished_at: 20,
  });
  const input = message('m-1', 2, 'user', [text(`say: ${word('i-1')}`)], 'u1');
  const asked = message(
    'a-1',
    3,
    'assistant',
    [{ type: 'tool_use', id: 'call' as ToolCallId, name: 'mail', input: {} }],
    'a1',
  );
  const result = message('call', 6, 'tool', [toolResult('mail: done', false)], 'a1');
  const answer = message('a-2', 7, 'assistant', [text(word('i-1'))], 'a1');
  const withdrawn: StoredMessage = {
    ...message('m-2', null, 'user', [text(`say: ${word('i-2')}`)], null),
    status: 'withdrawn',
    job_id: 'job-2',
    completed_at: null,
  };
  const call: StoredCall = {
    id: 'call',
    context_id: 'c',
    job_id: 'job-1',
    message_id: 'a-1',
    name: 'mail',
    effect: 'once',
    status: 'completed',
    started_at: 20,
    asked: false,
    approval: null,
    approval_at: null,
    reply: null,
  };
  const main: StoredBranch = {
    context_id: 'c',
    name: 'main',
    parent_name: null,
    fork_seq: null,
    spans: null,
    message_count: 4,
    request_count: 2,
    input_tokens: 20,
    output_tokens: 4,
  };
  const begin = event(1, 'JobStarted', { job_id: 'job-1', status: 'running', attempt: 1 });
  const withdrawal = event(4, 'JobFinished', { job_id: 'job-2', status: 'cancelled', attempt: 0 });
  const started = event(5, 'ToolCallStarted', { tool_call_id: 'call', name: 'mail', status: 'started' });
  const end = event(8, 'JobFinished', { job_id: 'job-1', status: 'completed', attempt: 1 });
  const messages = [input, asked, result, answer, withdrawn];
  const events = [begin, withdrawal, started, end];
  const sent: StreamEvent[] = [
    ...events.map(({ seq, name, data }) => ({ seq, name, data })),
    ...messages.flatMap(({ id, seq }) =>
      seq === null ? [] : [{ seq, name: 'MessageCompleted', data: { message_id: id } }],
    ),
  ].sort((a, b) => a.seq - b.seq);
  const delta = (sequence: number, content: string): StreamEvent => ({
    seq: null,
    name: 'ContentDelta',
    data: { message_id: 'a-2', attempt: 2, sequence, delta: content },
  });
  const received = [
    ...sent.slice(0, 6),
    delta(0, word('i-1').slice(0, 3)),
    delta(1, word('i-1').slice(3)),
    ...sent.slice(6),
  ];
  const world: World = {
    faults: [],
    inputs: [first, second],
    sightings: [{ jobId: 'job-1', status: 'completed', outputId: 'a-2' }],
    interrupts: [],
    stops: [],
    replies: [],
    decisions: [],
    reported: [],
    changes: [],
    settings: [],
    compacts: [],
    odd: [],
    unsettled: [],
    contexts: [context],
    branches: [main],
    compactions: [],
    jobs: [done, cancelled],
    messages,
    events,
    calls: [call],
    outside: ['begin', 'effect', 'end'].map((what) => ({ what, name: 'mail', key: 'call' })),
    returned: [
      {
        contextId: 'c',
        state: 'Idle',
        messageCount: 4,
        turnCount: 1,
        requestCount: 2,
        inputTokens: 20,
        outputTokens: 4,
        branches: [returnedBranch(main, [input, asked, result, answer], true)],
        jobs: [
          { id: 'job-1', status: 'completed', steps: 2, output: 'a-2', code: null },
          { id: 'job-2', status: 'cancelled', steps: 0, output: null, code: null },
        ],
      },
    ],
    repeats: [],
    streams: [
      {
        client: 'client-1',
        contextId: 'c',
        from: 0,
        connections: 1,
        events: received,
        connection: received.map(() => 1),
        behind: false,
      },
    ],
    replays: [{ contextId: 'c', events: sent }],
    incidents: [],
    others: soundTenants(),
    schedules: soundSchedules(),
    webhooks: soundWebhooks({ events, inputs: [first, second], others: soundTenants() }),
    keys: [soundKey()],
    service: soundService('job-1'),
    operated: soundOperated(),
    repairs: soundRepairs(),
  };
  return {
    world,
    context,
    main,
    first,
    second,
    done,
    cancelled,
    input,
    asked,
    result,
    answer,
    withdrawn,
    call,
    begin,
    started,
    end,
  };
}

export type Sound = ReturnType<typeof soundWorld>;

/** One input each. The job of the resumed tenant began after its suspension. */
function soundTenants(): OtherTenants {
  return {
    inputs: [
      { tenant: 'paused', tag: 'paused-0', user: 'ann', jobId: 'job-of-ann' },
      { tenant: 'deleted', tag: 'deleted-0', user: null, jobId: 'job-of-deleted' },
    ],
    jobs: [
      { id: 'job-of-ann', status: 'completed', user: 'ann', startedAt: 60 },
      ...RUN_JOBS.map((id) => ({ id, status: 'completed', user: null, startedAt: 20_100 })),
    ],
    suspended: { from: 10, to: 50 },
    deleted: ['paused', 'deleted'],
    left: [],
  };
}

const RUN_JOBS = ['run-1', 'run-3', 'run-manual'];

/**
 * `recurring` ran after 10 s and after 30 s, was missed after 20 s, and was run by a client; it was paused for a while.
 * `once`, of the other tenant, was refused by a stopped worker; `later` ran.
 */
function soundSchedules(): Schedules {
  const made = { overlap: 'queue', pauses: [], manual: [] } as const;
  const once = { every_s: null, anchor_at: null, jitter_s: 0, next_occurrence: null };
  const run = { occurrence: null, missed_until: null, status: 'started', job_id: null, code: null } as const;
  const input = (tag: string) => ({ tag, script: plainScript(tag) });
  return {
    made: [
      {
        ...made,
        id: 'recurring',
        tenant: 'paused',
        catchUp: 'one',
        input: null,
        pauses: [{ from: 15_000, to: 25_000 }],
        manual: ['run-manual'],
      },
      { ...made, id: 'once', tenant: 'default', catchUp: 'all', input: input('s-1'), pauses: [], manual: [] },
      { ...made, id: 'later', tenant: 'default', catchUp: 'all', input: input('s-2'), pauses: [], manual: [] },
    ],
    quietAt: 35_000,
    stored: [
      { id: 'recurring', every_s: 10, anchor_at: 0, once_at: null, jitter_s: 0, next_occurrence: 40_000 },
      { ...once, id: 'once', once_at: 5_000 },
      { ...once, id: 'later', once_at: 6_000 },
    ],
    runs: [
      { ...run, schedule_id: 'recurring', occurrence: 10_000, at: 10_100, job_id: 'run-1' },
      { ...run, schedule_id: 'recurring', occurrence: 20_000, missed_until: 20_000, at: 30_100, status: 'missed' },
      { ...run, schedule_id: 'recurring', occurrence: 30_000, at: 30_100, job_id: 'run-3' },
      { ...run, schedule_id: 'recurring', at: 12_000, job_id: 'run-manual' },
      { ...run, schedule_id: 'once', occurrence: 5_000, at: 5_100, status: 'failed', code: 'worker_stopped' },
      { ...run, schedule_id: 'later', occurrence: 6_000, at: 6_100, job_id: 'run-later' },
    ],
    jobs: [...RUN_JOBS, 'run-later'].map((id) => ({ id, status: 'completed', created_at: 40_000 })),
  };
}
