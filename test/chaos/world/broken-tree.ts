// How a small tree of workers is broken, and part of the expected violation.
import { text, toolResult } from './builders.ts';
import type { SoundTree } from './sound-tree.ts';

export const BROKEN_TREES: readonly [string, (sound: SoundTree) => void, RegExp][] = [
  ['a call makes two', ({ world, first }) => void world.jobs.push({ ...first, id: 'x' }), /made 2 workers/],
  [
    'a call makes none',
    ({ world, first }) => void world.jobs.splice(world.jobs.indexOf(first), 1),
    /done and made no worker/,
  ],
  [
    'an end is reported twice',
    ({ world, result }) => void world.messages.push({ ...result, id: 'x' }),
    /has 2 results/,
  ],
  [
    'a status is wrong',
    ({ first }) => Object.assign(first, { status: 'failed' }),
    /received a wrong status: completed/,
  ],
  [
    'an output is wrong',
    ({ world }) => {
      const output = world.messages.find(({ id }) => id === 'out-awaited');
      Object.assign(output ?? {}, { content: [text('other')] });
    },
    /received a wrong status/,
  ],
  [
    'a result is of another worker',
    ({ awaited }) => Object.assign(awaited, { worker_id: 'w-x' }),
    /not of the worker that was made/,
  ],
  [
    'a successful call is reported as failed',
    ({ calls }) => Object.assign(calls[0] ?? {}, { status: 'failed' }),
    /the call is failed, its worker completed/,
  ],
  [
    'it did not wait, and receives an end',
    ({ world }) => {
      const received = world.messages.find(({ id }) => id === 'told-call-2');
      const content = {
        worker_id: 'w-unawaited',
        job_id: 'job-unawaited',
        status: 'completed',
        output: null,
      };
      Object.assign(received ?? {}, { content: [toolResult(JSON.stringify(content), false, 'call-2')] });
    },
    /it did not wait, and received completed/,
  ],
  [
    'a wait returns other workers',
    ({ waited }) => Object.assign(waited, { content: [toolResult('[]', false, 'call-3')] }),
    /name other workers/,
  ],
  ['a wait ends too early', (sound) => waits(sound, 'running', null), /waited for 1, and 0 had ended/],
  ['a wait returns a wrong status', (sound) => waits(sound, 'failed', null), /shown as failed, and is not/],
  [
    'an end is reported to no context',
    ({ world, report }) => void world.jobs.splice(world.jobs.indexOf(report), 1),
    /reported to no context/,
  ],
  [
    'a context is notified twice',
    ({ world, report }) => void world.jobs.push({ ...report, id: 'x' }),
    /reported 2 times/,
  ],
  [
    'an awaited end is reported as well',
    ({ report }) => Object.assign(report, { notice_of_job_id: 'job-awaited' }),
    /waited for, and reported/,
  ],
  [
    'another worker is notified',
    ({ report }) => Object.assign(report, { context_id: 'awaited' }),
    /reported to another context/,
  ],
  ['a notice is wrong', ({ second }) => Object.assign(second, { status: 'failed' }), /its notice is wrong/],
  ['a notice is still due', ({ second }) => Object.assign(second, { parent_notice: 'due' }), /notice is still due/],
  [
    'an end does not reach those below',
    ({ parent }) => Object.assign(parent, { cascade: 'cancel' }),
    /not cascade to all below/,
  ],
  [
    'a worker continues after its parent job ended',
    ({ parent, second }) => {
      Object.assign(parent, { status: 'cancelled' });
      Object.assign(second, { finished_at: 100_000 });
    },
    /continued after the stop request/,
  ],
  [
    'a detached worker is ended',
    ({ unawaited, second }) => {
      Object.assign(unawaited, { detached: true });
      Object.assign(second, { stop_kind: 'cancel' });
    },
    /it is detached/,
  ],
  [
    'a worker has no parent call',
    ({ second }) => Object.assign(second, { parent_job_id: 'gone' }),
    /a worker that no call made/,
  ],
];

function waits({ waited }: SoundTree, status: string, output: string | null): void {
  const content = JSON.stringify([{ worker_id: 'w-awaited', status, output }]);
  Object.assign(waited, { content: [toolResult(content, false, 'call-3')] });
}
