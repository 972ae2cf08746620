// The README's steps for a new user, as printed: its file is written, its commands are run by a shell in order, beside
// a platform as `npm start` runs it on a laptop, with embedded services and no variable of this test run.
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '../../../src/client/index.ts';
import { GUIDES, fileNameOf } from '../../docs/blocks.ts';
import { ROOT } from '../../docs/markdown.ts';
import { programFile } from '../../services/programs.ts';
import { removeFolder, temporaryFolder } from '../../services/temporary-folder.ts';
import { run, signalGroup, type Run } from './clone.ts';
import { openPageShell } from './page-shell.ts';
import { runStep, stepsOf } from './page-run.ts';
import { until } from '../rig/until.ts';

const README = readFileSync(path.join(ROOT, 'README.md'), 'utf8');
const SLOW = 180_000;

const README_CONFIG = stepsOf('README.md').find(({ kind }) => kind === 'config')?.text ?? '';

let folder = '';
let platform: Run;
let url = '';

beforeAll(async () => {
  folder = path.join(await temporaryFolder(), 'first');
  await mkdir(folder, { mode: 0o755 });
  await start(README_CONFIG);
}, SLOW);

afterAll(async () => {
  await stop();
  await removeFolder(path.dirname(folder));
}, SLOW);

async function start(config: string): Promise<void> {
  await writeFile(path.join(folder, 'nightshift.config.ts'), config);
  platform = run(folder, [process.execPath, programFile('src/cli/main.ts'), 'start'], { PORT: '0' });
  [, url = ''] = await platform.until(/is ready at (http:\S+)[^]*Try it/);
}

async function stop(): Promise<void> {
  signalGroup(platform, 'SIGTERM');
  await platform.ended;
}

/** Whether the platform runs with the config file of the README, as those pages want it that have none. */
let isOfReadme = true;

/** Runs the page in a folder of its own, and returns what each of its scripts wrote. */
async function runPage(page: string): Promise<string[]> {
  const own = path.join(path.dirname(folder), page.replaceAll(/\W/g, '-'));
  await mkdir(own);
  const shell = await openPageShell(own, () => url);
  const outputs: string[] = [];
  try {
    for (const step of stepsOf(page)) {
      if (step.kind === 'config' && page !== 'README.md') await restart(step.text);
      if (step.kind === 'file') await writeBeside(fileNameOf(step), step.text);
      if (step.kind !== 'config') outputs.push(await runStep(shell, step));
    }
    return outputs;
  } finally {
    shell.close();
  }
}

/** Of the config file, which imports it. It may import packages, which the reader has installed. */
async function writeBeside(name: string | null, text: string): Promise<void> {
  if (name === null) throw new Error('The file has no name.');
  const packages = path.join(folder, 'node_modules');
  if (!existsSync(packages)) await symlink(path.join(ROOT, 'node_modules'), packages);
  await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
  await writeFile(path.join(folder, name), text);
}

async function restart(config: string): Promise<void> {
  await stop();
  await start(config);
  isOfReadme = config === README_CONFIG;
}

test(
  'a first tool, a first approval, a first worker that creates workers: each command works as printed',
  async () => {
    const [words = '', first = '', refund = '', second = '', third = '', ...more] = await runPage('README.md');
    expect(words).toBe('');
    expect(first).toContain('"status":"completed"');
    expect(first).toContain('It is on its way.');
    expect(first).toContain('Order A-17 left the warehouse this morning.');

    expect(refund).toMatch(/"status":"waiting".*"name":"refund"/);
    expect(second).toContain('"resolved":["');
    expect(second).toContain('"status":"completed"');
    expect(second).toContain('That is settled.');

    expect(third).toContain('My reader is done.');
    expect(third).toMatch(/"name":"lead".*"children":\[\{.*"name":"reader".*"status":"completed"/);
    expect(more).toEqual([]);
  },
  SLOW,
);

test('the tour that it mentions exists', async () => {
  expect(platform.output()).toContain(`${url}/inbox`);
  await until('it to ask', async () => {
    const waiting = await createClient({ url }).approvals.list().all();
    return waiting.some(({ name }) => name === 'write_file');
  });
});

test.each(GUIDES.filter((page) => page !== 'README.md' && stepsOf(page).length > 0))(
  'what %s shows runs, and writes what the page says',
  async (page) => {
    if (!isOfReadme && stepsOf(page).every(({ kind }) => kind !== 'config')) await restart(README_CONFIG);
    await runPage(page);
  },
  SLOW,
);

test('the files that it names exist', () => {
  const links = [...README.matchAll(/\]\(([^)#:]+)\)/g)].map(([, link = '']) => link);
  expect(links.length).toBeGreaterThan(10);
  expect(links.filter((link) => !existsSync(path.join(ROOT, link)))).toEqual([]);
});
