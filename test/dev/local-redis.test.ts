// The Redis of laptop mode, where PATH has one.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startLocalRedis } from '../../src/dev/local-redis.ts';
import { removeFolder, temporaryFolder } from '../services/temporary-folder.ts';
import { runChild, untilGone } from './run-child.ts';

let folder = '';

beforeEach(async () => {
  folder = await temporaryFolder();
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await removeFolder(folder);
});

test('there is none where PATH has none', async () => {
  vi.stubEnv('PATH', folder);
  expect(await startLocalRedis({ dir: folder })).toBeNull();
});

test('it answers with the password only, stores nothing, refuses rather than evicts, and stops', async (context) => {
  const server = await startLocalRedis({ dir: path.join(folder, 'a "folder"') });
  if (server === null) return context.skip('no Redis on PATH');
  const redis = new Redis(server.url);
  expect(await redis.config('GET', 'maxmemory-policy')).toContain('noeviction');
  expect(await redis.config('GET', 'save')).toContain('');
  await redis.quit();
  const stranger = new Redis(server.url.replace(/:[^:@]+@/, ''), { retryStrategy: () => null });
  stranger.on('error', () => {});
  await expect(stranger.ping()).rejects.toThrow(/NOAUTH|closed/);
  stranger.disconnect();
  await server.stop();
  await untilGone(server.pid);
});

test('its password is in no command line', async (context) => {
  const server = await startLocalRedis({ dir: folder, password: 'a-secret-of-this-test' });
  if (server === null) return context.skip('no Redis on PATH');
  expect(await readFile(`/proc/${server.pid}/cmdline`, 'utf8')).not.toContain('a-secret-of-this-test');
  await server.stop();
});

test('it ends with the process that started it', async (context) => {
  const there = await startLocalRedis({ dir: folder });
  if (there === null) return context.skip('no Redis on PATH');
  await there.stop();
  const child = await runChild('redis', folder);
  await child.end('SIGKILL');
  await untilGone(child.servicePid);
});
