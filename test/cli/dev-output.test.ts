// What `nightshift dev` prints on a terminal, and what it makes of the log of its processes.
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { formatLine } from '../../src/cli/dev/format-line.ts';
import { jobLine } from '../../src/cli/dev/job-line.ts';
import type { EndedJob } from '../../src/db/read/jobs/ended-job.ts';

const plain = (_look: string, text: string): string => text;
const at = new Date(2026, 10, 28, 9, 5, 7);
const id = '01980000-0000-7000-8000-000000000000';

const job: EndedJob = {
  worker: 'ada',
  title: 'Sort the inbox of the warehouse in the morning',
  model: 'openai/gpt-5',
  status: 'completed',
  steps: 2,
  tokens: 1_214,
  ms: 3_200,
  reason: null,
};

describe('the line of a job', () => {
  const line = (columns: number | null, more: Partial<EndedJob> = {}): string =>
    jobLine({ ...job, ...more }, at, plain, columns);

  test('has worker, title, model, steps, tokens and duration', () => {
    expect(line(null)).toBe(
      '09:05:07  ✓ completed  ada  Sort the inbox of the warehouse in the morning  openai/gpt-5  2 steps  1,214 tokens  3.2s',
    );
    expect(line(130)).toBe(line(null));
  });

  test('cuts the title first, then leaves out title, model and tokens', () => {
    expect(line(100)).toBe(
      '09:05:07  ✓ completed  ada  Sort the inbox of the wareho…  openai/gpt-5  2 steps  1,214 tokens  3.2s',
    );
    expect(line(75)).toBe('09:05:07  ✓ completed  ada  openai/gpt-5  2 steps  1,214 tokens  3.2s');
    expect(line(60)).toBe('09:05:07  ✓ completed  ada  2 steps  1,214 tokens  3.2s');
    expect(line(48)).toBe('09:05:07  ✓ completed  ada  2 steps  3.2s');
  });

  test.each(Array.from({ length: 70 }, (_, index) => 45 + index))('fits %i columns', (columns) => {
    expect(stringWidth(line(columns, { title: '注文の状態を確認する' }))).toBeLessThanOrEqual(columns);
  });

  test('has the reason of a job that did not complete below it, without what could control the terminal', () => {
    const failed = line(null, { status: 'failed', reason: 'the model \u001B[31mis away\n', model: null, title: null });
    expect(failed).toBe('09:05:07  ✗ failed  ada  2 steps  1,214 tokens  3.2s\n  the model ␛[31mis away');
  });
});

describe('a line of the log', () => {
  const entry = (fields: object): string => JSON.stringify({ level: 30, time: at.getTime(), pid: 1, ...fields });
  const shown = (fields: object, all = false) => formatLine(entry(fields), plain, all);

  test('the end of a job names the job', () => {
    expect(shown({ msg: 'job ended', job_id: id })).toEqual({ kind: 'ended', jobId: id, at });
  });

  test.each([
    { msg: 'request', status: 404 },
    { msg: 'draining', runs: 0 },
    { msg: 'worker process is up' },
    { msg: 'Server listening at http://127.0.0.1:3000' },
  ])('$msg is hidden, unless the log level is debug', (fields) => {
    expect(shown(fields)).toEqual({ kind: 'hidden' });
    expect(shown(fields, true)).toMatchObject({ kind: 'text', text: expect.stringContaining(fields.msg) });
  });

  test('a request that failed is shown with its fields', () => {
    expect(shown({ msg: 'request', status: 500, route: '/api/jobs', tenant: null })).toEqual({
      kind: 'text',
      text: '09:05:07 info request status=500 route=/api/jobs',
    });
  });

  test('an error is shown with its stack', () => {
    const fields = {
      level: 50,
      msg: 'unhandled promise rejection',
      err: { message: 'no', stack: 'Error: no\n  at x' },
    };
    expect(shown(fields)).toEqual({
      kind: 'text',
      text: '09:05:07 error unhandled promise rejection\n  Error: no\n    at x',
    });
  });

  test.each(['counted 3 shelves', '{"level":', '{"level":30}trailing', 'null', ''])(
    'the output %j of a tool stays as it is',
    (line) => {
      expect(formatLine(line, plain, false)).toEqual({ kind: 'text', text: line });
    },
  );

  test('the output of a tool cannot control the terminal', () => {
    expect(formatLine('a\u001B[2Jb', plain, false)).toEqual({ kind: 'text', text: 'a␛[2Jb' });
  });
});
