// Tools for messages between the workers of a tree, as a model sees them: their results and refusals.
import { expect, test } from 'vitest';
import { DEFAULT_TENANT } from '../../src/core/ids.ts';
import { refuse } from '../../src/core/errors.ts';
import { peerTools, type Sender } from '../../src/tools/built-in/peers.ts';
import { refusedWith, runnerFor } from './built-in-runner.ts';

const callers: Sender[] = [];
const run = runnerFor(
  peerTools({
    send: async (caller, to) => {
      callers.push(caller);
      return to === 'busy' ? refuse('queue_full', 'Later.') : { kind: 'done', value: { job_id: to } };
    },
    list: async () => ({ kind: 'done', value: { workers: [] } }),
    stop: async () => refuse('forbidden', 'Not yours.'),
  }),
);

test('an answer is JSON text, and the caller is known with its tenant', async () => {
  expect(await run('send_message', { worker_id: 'x', content: 'hi' })).toEqual({
    isError: false,
    result: { job_id: 'x' },
  });
  expect(callers.at(-1)).toMatchObject({ tenantId: DEFAULT_TENANT, toolCallId: expect.any(String) });
  expect(await run('list_workers', {})).toEqual({ isError: false, result: { workers: [] } });
});

test('every error has a code, that of wrong arguments too', async () => {
  const message = { worker_id: 'busy', content: 'hi' };
  expect(await run('send_message', message)).toEqual(refusedWith('queue_full'));
  expect(await run('stop_worker', { worker_id: 'x' })).toEqual(refusedWith('forbidden'));
  expect(await run('send_message', { worker_id: 'x' })).toEqual(refusedWith('invalid_input'));
  expect(await run('list_workers', { all: true })).toEqual(refusedWith('invalid_input'));
});
