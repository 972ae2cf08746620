// A small sound world of three workers: one makes two others, waits for the one, and is notified of the other.
import type { JsonObject } from '../../../src/core/json.ts';
import type { ToolCallId } from '../../../src/core/ids.ts';
import { message, storedJob, text, toolResult } from './builders.ts';
import { SPAWN, WAIT } from '../clients/inputs.ts';
import { soundWorld } from './sound-world.ts';
import type { StoredCall, StoredContext } from './stored.ts';

/** Added to the world of two inputs: only the rows that the check of workers reads are complete. */
export function soundTree() {
  const { world, context, done, call } = soundWorld();
  const child = (id: string): StoredContext => ({
    ...context,
    id,
    worker_id: `w-${id}`,
    parent_context_id: 'c',
  });
  const awaited = child('awaited');
  const unawaited = child('unawaited');
  const made = (id: string, callId: string) => ({
    ...storedJob(`job-${id}`, `in-${id}`, 1, {
      status: 'completed',
      output_message_id: `out-${id}`,
      parent_job_id: 'job-1',
      parent_tool_call_id: callId,
      finished_at: 30,
    }),
    context_id: id,
  });
  const first = made('awaited', 'call-1');
  const second = made('unawaited', 'call-2');
  const report = storedJob('job-report', 'm-report', 3, {
    status: 'completed',
    notice_of_job_id: 'job-unawaited',
    finished_at: 60,
  });
  const use = (id: string, name: string, input: JsonObject) =>
    ({ type: 'tool_use', id: id as ToolCallId, name, input }) as const;
  const asked = message(
    'spawns',
    20,
    'assistant',
    [
      use('call-1', SPAWN, { wait: true }),
      use('call-2', SPAWN, { wait: false }),
      use('call-3', WAIT, { worker_ids: ['w-awaited'] }),
    ],
    'a1',
  );
  const received = (id: string, content: object) =>
    message(`told-${id}`, 21, 'tool', [toolResult(JSON.stringify(content), false, id)], 'a1');
  const result = received('call-1', {
    worker_id: 'w-awaited',
    job_id: 'job-awaited',
    status: 'completed',
    output: 'one',
  });
  const queued = received('call-2', {
    worker_id: 'w-unawaited',
    job_id: 'job-unawaited',
    status: 'queued',
    output: null,
  });
  const waited = received('call-3', [{ worker_id: 'w-awaited', status: 'completed', output: 'one' }]);
  const notice = message(
    'm-report',
    22,
    'user',
    [text('Report: job job-unawaited of worker "x" (w-unawaited) ended: completed.\n\ntwo')],
    'u2',
  );
  const outputs = (['awaited', 'unawaited'] as const).map((id, at) =>
    message(`out-${id}`, 2, 'assistant', [text(at === 0 ? 'one' : 'two')], 'a1'),
  );
  const calls = [
    ['call-1', SPAWN],
    ['call-2', SPAWN],
    ['call-3', WAIT],
  ].map(([id = '', name = '']): StoredCall => ({ ...call, id, name, effect: 'none', message_id: 'spawns' }));
  world.contexts.push(awaited, unawaited);
  world.jobs.push(first, second, report);
  world.messages.push(asked, result, queued, waited, notice, ...outputs);
  world.calls.push(...calls);
  return { world, parent: done, awaited, unawaited, first, second, report, result, waited, notice, calls };
}

export type SoundTree = ReturnType<typeof soundTree>;
