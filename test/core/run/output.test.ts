// What follows from the check of a final answer.
import { expect, test } from 'vitest';
import { judgeOutput, type OutputCheck } from '../../../src/core/run/output.ts';

const OUTPUT = { schema: {}, retries: 2 };

function judge(check: OutputCheck, finishReason: string | null = 'stop') {
  return judgeOutput(OUTPUT, { text: '', finishReason, corrections: 0 }, () => check);
}

test('an answer that does not match is asked for again', () => {
  expect(judge({ ok: false, isChecked: true, problems: ['p'] })).toEqual({
    kind: 'ask_again',
    note: 'This answer does not match the JSON Schema of the job: p. Answer again, with the complete JSON and no other text.',
  });
});

test('the model is not asked again if the answer could not be checked', () => {
  expect(judge({ ok: false, isChecked: false, problems: ['the check took longer than 100 ms'] })).toEqual({
    kind: 'failed',
    note: 'This answer could not be checked against the JSON Schema of the job: the check took longer than 100 ms.',
    error: {
      code: 'output_invalid',
      message: 'The answer could not be checked against output_schema: the check took longer than 100 ms.',
    },
  });
});
