// The typed client alone in a page of a browser, bundled as a user's own page would have it: its stream outlives the
// API that serves it.
import path from 'node:path';
import { afterEach, expect, inject, test } from 'vitest';
import { build } from 'vite';
import { expectAllFollowed } from '../e2e/streams/expect-followed.ts';
import type { Followed } from '../e2e/streams/follower.ts';
import { startApi, startWorker } from '../e2e/rig/platform.ts';
import { openEnvironment, type TestEnvironment } from '../e2e/rig/environment.ts';
import { useBrowser } from './rig/browser.ts';
import { findHeadless } from './rig/chromium.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const { visit, excuse } = useBrowser();

let environment: TestEnvironment | null = null;
afterEach(async () => {
  await environment?.close();
  environment = null;
});

/** The program and the client as one script that runs in a page; `program` holds its exports. */
async function bundle(): Promise<string> {
  const built = await build({
    configFile: false,
    root: ROOT,
    logLevel: 'error',
    build: {
      write: false,
      lib: { entry: path.join(ROOT, 'test/e2e/streams/follower.ts'), name: 'program', formats: ['iife'] },
    },
  });
  const outputs = Array.isArray(built) ? built : 'output' in built ? [built] : [];
  const [script, ...more] = outputs.flatMap(({ output }) => output);
  expect(more).toEqual([]);
  return script?.type === 'chunk' ? script.code : '';
}

test.skipIf(findHeadless() === null || inject('redisUrl') === null)(
  'a page makes a worker and follows it, while the API is killed and comes back',
  async () => {
    excuse(/Failed to load resource|net::ERR_/);
    environment = await openEnvironment();
    let api = await startApi(environment.env);
    const worker = await startWorker(environment.env);
    const url = `http://127.0.0.1:${api.env['PORT'] ?? ''}`;
    // Any address of the API: the console has no part in it.
    const page = await visit(`${url}/healthz`);
    await page.exposeFunction('restart', async () => {
      api.child.signal('SIGKILL');
      await api.child.exited;
      api = await startApi(api.env);
    });
    await page.addScriptTag({ content: await bundle() });
    expectAllFollowed(await page.evaluate<Followed>('program.follow(location.origin, restart)'));
    for (const child of [api.child, worker]) child.signal('SIGTERM');
    await Promise.all([api.child, worker].map(({ exited }) => exited));
  },
);
