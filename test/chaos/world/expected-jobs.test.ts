// A retry on a branch where another input came first, and ended in the middle: the job has to do the rest of that, and
// nothing else.
import { describe, expect, test } from 'vitest';
import type { ToolCallId } from '../../../src/core/ids.ts';
import { answers } from '../checks/answers.ts';
import { endings } from '../checks/endings.ts';
import { event, message, posted, storedJob, text, toolResult } from './builders.ts';
import { word } from '../clients/inputs.ts';
import { soundConversation } from './sound-conversation.ts';
import type { World } from './world.ts';

const BRANCH = 'main-3';

/** `i-5` overtakes `i-4` on its branch, and ends at its limit after one step of two; `i-4` continues from there. */
function overtaken() {
  const { world, retry } = soundConversation();
  const again = world.inputs.find(({ tag }) => tag === 'i-4');
  if (again === undefined) throw new Error('there is no retry');
  again.cancelled = false;
  const first = posted('i-5', 'job-6', 'm-5', 23);
  Object.assign(first.script, { shape: 'limited', ends: ['incomplete'], maxSteps: 1 });
  const of = (id: string, seq: number, role: 'user' | 'assistant' | 'tool', block: Block, jobId: string) => ({
    ...message(id, seq, role, [block], role === 'user' ? 'u2' : 'a2'),
    branch: BRANCH,
    job_id: jobId,
    completed_at: 300 + seq,
  });
  const asks = (id: string): Block => ({
    type: 'tool_use',
    id: id as ToolCallId,
    name: 'mail',
    input: {},
  });
  const answer = of('a-6', 35, 'assistant', text(word('i-5')), 'job-4');
  const limited = storedJob('job-6', 'm-5', 6, {
    branch: BRANCH,
    status: 'incomplete',
    error_code: 'max_steps',
    steps: 1,
    started_at: 325,
    finished_at: 332,
  });
  Object.assign(retry, {
    status: 'completed',
    steps: 1,
    output_message_id: 'a-6',
    stop_kind: null,
    started_at: 333,
    finished_at: 340,
  });
  world.inputs.push(first);
  world.jobs.push(limited);
  world.messages.push(
    of('m-5', 30, 'user', text(`say: ${word('i-5')}`), 'job-6'),
    of('a-5', 31, 'assistant', asks('again'), 'job-6'),
    of('again', 32, 'tool', toolResult('mail: done', false, 'again'), 'job-6'),
    answer,
  );
  world.events.push(event(33, 'JobStarted', { job_id: 'job-4', status: 'running', attempt: 1 }));
  return { world, again, retry, answer, asks };
}

type Block = ReturnType<typeof text>;
type Overtaken = ReturnType<typeof overtaken>;

function found(world: World): string[] {
  const reasons = endings.find(world).filter(({ what }) => what.includes('for no reason'));
  return [...answers.find(world), ...reasons].map(({ what }) => what);
}

test('it continues where that one ended', () => {
  expect(found(overtaken().world)).toEqual([]);
});

test('with a limit of one step it ends at its limit where two are left', () => {
  const { world, again, retry } = overtaken();
  again.script.maxSteps = 1;
  expect(found(world)).toEqual([]);
  world.messages = world.messages.filter(({ id }) => !['a-5', 'again', 'a-6'].includes(id));
  Object.assign(world.jobs.at(-1) ?? {}, { steps: 0, status: 'cancelled' });
  Object.assign(world.inputs.at(-1) ?? {}, { cancelled: true });
  Object.assign(retry, { status: 'incomplete', steps: 0, output_message_id: null });
  expect(found(world)).toEqual([]);
  Object.assign(again.script, { maxSteps: null });
  expect(found(world)).toContainEqual(expect.stringMatching(/incomplete, for no reason/));
});

describe('the check finds', () => {
  test.each<[string, (sound: Overtaken) => void, RegExp]>([
    [
      'a step is done a second time',
      ({ answer, asks }) => Object.assign(answer, { content: [asks('twice')] }),
      /answered mail where the script has the last word/,
    ],
    [
      'it answers more than is left',
      ({ world, retry, answer }) => (
        Object.assign(retry, { steps: 2 }),
        void world.messages.push({ ...answer, id: 'a-7', seq: 36, content: [text('more')] })
      ),
      /answered the last word \| {2}where the script has the last word/,
    ],
    [
      'it has the limit of the other job',
      ({ retry }) => Object.assign(retry, { status: 'incomplete', output_message_id: null }),
      /incomplete, for no reason/,
    ],
    [
      'it answers the first input',
      ({ answer }) => Object.assign(answer, { content: [text(word('i-1'))] }),
      /its answer is to another input/,
    ],
  ])('%s', (_, breakIt, expected) => {
    const sound = overtaken();
    breakIt(sound);
    expect(found(sound.world)).toContainEqual(expect.stringMatching(expected));
  });
});
