// The README's promise to a new user: in a fresh clone, on a machine with an old Node and nothing else, one command
// runs the platform, the line that it prints ends with a completed job, and no process outlives it. It installs
// packages over the network for minutes: only at full depth. bootstrap.test.ts shows in every run the parts without
// network.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { canReach } from '../../../src/dev/postgres-account.ts';
import { depth } from '../../services/depth.ts';
import { removeFolder } from '../../services/temporary-folder.ts';
import { expectNothingLeft, freshClone, printedLineWorks, run, signalGroup, type Account, type Run } from './clone.ts';

const INSTALL_MS = 600_000;
const isRoot = process.getuid?.() === 0;
const READY = /is ready at (http:\S+)\n/;
let clone = '';

describe.runIf(depth(false, true))('a fresh machine', () => {
  beforeAll(async () => {
    clone = await freshClone();
  });

  afterAll(() => removeFolder(path.dirname(clone)));

  const start = (account?: Account): Run => run(clone, ['npm', 'start'], { PORT: '0' }, account);

  test('npm start installs what it needs, runs a job, and Ctrl-C ends it all', { timeout: INSTALL_MS }, async () => {
    const platform = start();
    const [, address = ''] = await platform.until(READY);
    expect(platform.output()).toMatch(/Building the console/);
    const page = await fetch(address, { headers: { accept: 'text/html' } });
    expect(await page.text()).toContain('<div id="root">');
    await printedLineWorks(platform);
    signalGroup(platform, 'SIGINT');
    expect(await platform.ended).toBe(0);
    await expectNothingLeft(clone);
  });

  test('once installed and built it does neither again, is ready within seconds, and a second start reports the running platform', async () => {
    const began = performance.now();
    const first = start();
    await first.until(READY);
    expect(performance.now() - began).toBeLessThan(15_000);
    expect(first.output()).not.toMatch(/Installing|Building/);
    const second = start();
    expect(await second.ended).toBe(1);
    expect(second.output()).toMatch(/already running in this folder, as process \d+/);
    first.process.kill('SIGTERM');
    expect(await first.ended).toBe(0);
    await expectNothingLeft(clone);
  });

  test('after a SIGKILL of everything, or of npm alone, the next start works', async () => {
    const first = start();
    await first.until(READY);
    signalGroup(first, 'SIGKILL');
    const second = start();
    await second.until(READY);
    await printedLineWorks(second);
    second.process.kill('SIGKILL');
    // A process that npm had started holds the folder until it has ended, which it does by itself.
    await second.ended;
    const third = start();
    await third.until(READY);
    third.process.kill('SIGINT');
    expect(await third.ended).toBe(0);
    await expectNothingLeft(clone);
  });

  test('a stale node_modules is installed again', { timeout: INSTALL_MS }, async () => {
    const record = path.join(clone, 'node_modules', '.package-lock.json');
    const stale = run(clone, ['node', '-e', `require('fs').rmSync(${JSON.stringify(record)})`], {});
    await stale.ended;
    const platform = start();
    await platform.until(READY);
    expect(platform.output()).toContain('npm ci');
    expect(existsSync(record)).toBe(true);
    platform.process.kill('SIGTERM');
    await platform.ended;
  });

  test('two starts at once install once', { timeout: INSTALL_MS }, async () => {
    await removeFolder(path.join(clone, 'node_modules'));
    const build = (): Run => run(clone, ['node', 'bootstrap.js', 'build'], {});
    const both = [build(), build()];
    await Promise.all(both.map((one) => one.ended));
    expect(both.filter((one) => one.output().includes('Installing')).length).toBe(1);
    expect(existsSync(path.join(clone, 'node_modules', 'fastify', 'package.json'))).toBe(true);
  });

  const otherUser = accountOf('nobody');

  test.runIf(isRoot && otherUser !== null && canReach('/tmp', otherUser))('not as root it works the same', async () => {
    if (otherUser === null) return;
    await removeFolder(path.join(clone, '.nightshift', 'postgres'));
    spawnSync('chown', ['-R', `${otherUser.uid}:${otherUser.gid}`, clone]);
    const platform = start(otherUser);
    await platform.until(READY);
    await printedLineWorks(platform);
    signalGroup(platform, 'SIGINT');
    expect(await platform.ended).toBe(0);
    await expectNothingLeft(clone);
  });
});

function accountOf(name: string): Account | null {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((one) => one.startsWith(`${name}:`));
  const [, , uid, gid] = line?.split(':') ?? [];
  return uid === undefined || gid === undefined ? null : { uid: Number(uid), gid: Number(gid) };
}
