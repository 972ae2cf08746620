// How a small tree of workers is broken, and words of what the check of workers finds.
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
    'an end is told twice',
    ({ world, result }) => void world.messages.push({ ...result, id: 'x' }),
    /told of 2 times/,
  ],
  [
    'a status is not so',
    ({ first }) => Object.assign(first, { status: 'failed' }),
    /told what is not so: completed/,
  ],
  [
    'an output is not so',
    ({ world }) => {
      const output = world.messages.find(({ id }) => id === 'out-awaited');
      Object.assign(output ?? {}, { content: [text('other')] });
    },
    /told what is not so/,
  ],
  [
    'a result is of another worker',
    ({ awaited }) => Object.assign(awaited, { worker_id: 'w-x' }),
    /not of the worker that was made/,
  ],
  [
    'a call that is done is said to have failed',
    ({ calls }) => Object.assign(calls[0] ?? {}, { status: 'failed' }),
    /the call is failed, its worker completed/,
  ],
  [
    'it did not wait, and is told an end',
    ({ world }) => {
      const told = world.messages.find(({ id }) => id === 'told-call-2');
      const content = {
        worker_id: 'w-unawaited',
        job_id: 'job-unawaited',
        status: 'completed',
        output: null,
      };
      Object.assign(told ?? {}, { content: [toolResult(JSON.stringify(content), false, 'call-2')] });
    },
    /it did not wait, and was told completed/,
  ],
  [
    'a wait tells of others',
    ({ waited }) => Object.assign(waited, { content: [toolResult('[]', false, 'call-3')] }),
    /others are told of/,
  ],
  ['a wait ends too early', (sound) => waits(sound, 'running', null), /waited for 1, and 0 had ended/],
  ['a wait tells what is not so', (sound) => waits(sound, 'failed', null), /said to be failed, and is not/],
  [
    'nobody is told',
    ({ world, report }) => void world.jobs.splice(world.jobs.indexOf(report), 1),
    /reported to nobody/,
  ],
  [
    'somebody is told twice',
    ({ world, report }) => void world.jobs.push({ ...report, id: 'x' }),
    /reported 2 times/,
  ],
  [
    'what was waited for is reported',
    ({ report }) => Object.assign(report, { notice_of_job_id: 'job-awaited' }),
    /waited for, and reported/,
  ],
  [
    'another worker is told',
    ({ report }) => Object.assign(report, { context_id: 'awaited' }),
    /reported to somebody else/,
  ],
  [
    'a report is not true',
    ({ second }) => Object.assign(second, { status: 'failed' }),
    /its report is not true/,
  ],
  [
    'a report is still due',
    ({ second }) => Object.assign(second, { parent_notice: 'due' }),
    /report is still due/,
  ],
  [
    'an end does not reach those below',
    ({ parent }) => Object.assign(parent, { cascade: 'cancel' }),
    /not carried on to all below/,
  ],
  [
    'a worker goes on for nobody',
    ({ parent, second }) => {
      Object.assign(parent, { status: 'cancelled' });
      Object.assign(second, { finished_at: 100_000 });
    },
    /went on after the job/,
  ],
  [
    'a detached worker is ended',
    ({ unawaited, second }) => {
      Object.assign(unawaited, { detached: true });
      Object.assign(second, { stop_kind: 'cancel' });
    },
    /made to outlive/,
  ],
  [
    'a worker is of nobody',
    ({ second }) => Object.assign(second, { parent_job_id: 'gone' }),
    /a worker of nobody/,
  ],
];

function waits({ waited }: SoundTree, status: string, output: string | null): void {
  const content = JSON.stringify([{ worker_id: 'w-awaited', status, output }]);
  Object.assign(waited, { content: [toolResult(content, false, 'call-3')] });
}
