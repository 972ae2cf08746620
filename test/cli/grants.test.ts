// Approvals in advance from the command line: made for a time, listed, taken back.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Grant } from '../../src/client/index.ts';
import { openPlatform, type Platform } from './command-line.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await openPlatform();
});
afterAll(() => platform.close());

const CALL = 'call: remember {"key": "k", "value": "v"}';
const SCRIPT = `${CALL}\n---\nsay: done`;
/** The call that a run prints that it waits for. */
const NAMED = /nightshift approve (\S+)/;

test('a remembered approval is listed, lets later calls run for its time, and can be taken back', async () => {
  const { id } = await platform.client.contexts.create({
    config: { tools: ['remember'], approval: [{ tool: 'remember', decision: 'always' }] },
  });
  expect(await platform.run(['grants', id])).toMatchObject({ code: 0, out: 'No grants.\n' });

  const first = platform.start(['run', SCRIPT, '--context', id]);
  const [, call = ''] = await first.says('err', NAMED);
  expect((await platform.run(['approve', call, '--for', '1h'])).code).not.toBe(0);
  expect((await platform.run(['approve', call, '--remember', '--for', 'soon'])).code).toBe(2);
  expect(await platform.run(['approve', call, '--remember', '--for', '1h'])).toMatchObject({
    code: 0,
    out: '1 call approved.\n',
  });
  expect(await first.done).toMatchObject({ code: 0, out: 'done\n' });

  const {
    data: [grant, ...others],
  } = await platform.json<{ data: Grant[] }>(['grants', id, '--json']);
  expect(others).toEqual([]);
  expect(grant).toMatchObject({ tool: 'remember', actor: { kind: 'key', user: null, on_behalf_of: null } });
  expect(Date.parse(grant?.expires_at ?? '') - Date.parse(grant?.created_at ?? '')).toBe(3_600_000);
  const { out } = await platform.run(['grants', id]);
  expect(out).toMatch(/^TOOL +DECIDED BY +SINCE +EXPIRES\n/);
  expect(out).toMatch(/^remember +key \S+ +\S+ +\S+$/m);

  // No call waits, so a run that may not ask ends well.
  expect((await platform.run(['run', SCRIPT, '--no-input', '--context', id])).code).toBe(0);

  expect(await platform.run(['grants', 'remove', id, 'remember'])).toMatchObject({
    code: 0,
    out: 'Calls of remember need approval again.\n',
  });
  expect((await platform.run(['grants', 'remove', id, 'remember'])).code).toBe(1);
  expect(await platform.json(['grants', id, '--json'])).toEqual({ data: [] });
  const again = platform.start(['run', SCRIPT, '--context', id]);
  const [, asked = ''] = await again.says('err', NAMED);
  expect((await platform.run(['deny', asked])).code).toBe(0);
  expect((await again.done).code).toBe(0);
});
