// The README's steps for a new user, as printed: its file is written, its commands are run by a shell in order, beside
// a platform as `npm start` runs it on a laptop, with embedded services and no variable of this test run.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '../../../src/client/index.ts';
import { removeFolder, temporaryFolder } from '../../services/temporary-folder.ts';
import { run, signalGroup } from './clone.ts';
import type { Run } from './clone.ts';
import { until } from '../rig/until.ts';

const ROOT = path.join(import.meta.dirname, '../../..');
const README = readFileSync(path.join(ROOT, 'README.md'), 'utf8');
const PRINTED = 'http://127.0.0.1:3000';
const SLOW = 180_000;

/** The text under a heading, up to the next one. */
function section(heading: string): string {
  const [, found] = README.split(`\n## ${heading}\n`);
  if (found === undefined) throw new Error(`the README has no “${heading}”`);
  return found.split('\n## ')[0] ?? '';
}

const blocks = (text: string, language: string): string[] =>
  [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].flatMap(([, of, inside = '']) =>
    of === language ? [inside] : [],
  );

let folder = '';
let platform: Run;
let url = '';

beforeAll(async () => {
  folder = path.join(await temporaryFolder(), 'first');
  await mkdir(folder, { mode: 0o755 });
  const [config = ''] = blocks(section('A first tool'), 'ts');
  await writeFile(path.join(folder, 'nightshift.config.ts'), config);
  platform = run(folder, [process.execPath, path.join(ROOT, 'src/cli/main.ts'), 'start'], { PORT: '0' });
  [, url = ''] = await platform.until(/is ready at (http:\S+)[^]*Try it/);
}, SLOW);

afterAll(async () => {
  signalGroup(platform, 'SIGTERM');
  await platform.ended;
  await removeFolder(path.dirname(folder));
}, SLOW);

/** A shell that keeps its state: resolves with the output of the commands. */
function openShell(): { type(commands: string): Promise<string>; close(): void } {
  const shell = spawn('sh', [], { cwd: folder, stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: shell.stdout })[Symbol.asyncIterator]();
  const END = '-- that was all --';
  return {
    async type(commands) {
      shell.stdin.write(`${commands.replaceAll(PRINTED, url)}\necho '${END}'\n`);
      const printed: string[] = [];
      for (;;) {
        const { done, value = '' } = await lines.next();
        if (done === true) throw new Error(`the shell ended:\n${printed.join('\n')}`);
        if (value === END) return printed.join('\n');
        printed.push(value);
      }
    },
    close: () => void shell.stdin.end(),
  };
}

test(
  'a first tool, a first approval, a first worker that creates workers: each command works as printed',
  async () => {
    const client = createClient({ url });
    const shell = openShell();

    const [words = '', tool = ''] = blocks(section('A first tool'), 'sh');
    expect(await shell.type(words)).toBe('');
    const first = await shell.type(tool);
    expect(first).toContain('"status":"completed"');
    expect(first).toContain('It is on its way.');
    expect(first).toContain('Order A-17 left the warehouse this morning.');

    const [refund = '', approve = ''] = blocks(section('A first approval'), 'sh');
    expect(await shell.type(refund)).toMatch(/"status":"(?:queued|running|waiting)"/);
    await until(
      'the refund to ask',
      async () => (await client.approvals.list().all()).some(({ name }) => name === 'refund'),
      60,
    );
    const second = await shell.type(approve);
    expect(second).toContain('"resolved":["');
    expect(second).toContain('"status":"completed"');
    expect(second).toContain('That is settled.');

    const [spawning = ''] = blocks(section('A first worker that creates workers'), 'sh');
    const third = await shell.type(spawning);
    expect(third).toContain('My reader is done.');
    expect(third).toMatch(/"name":"lead".*"children":\[\{.*"name":"reader".*"status":"completed"/);
    shell.close();
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

test('the scripts and files that it names exist', () => {
  const manifest: unknown = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
  for (const text of blocks(README, 'sh')) {
    for (const [, script = ''] of text.matchAll(/npm (?:run )?(start|test|(?<=run )[\w-]+)/g))
      expect(manifest).toHaveProperty(['scripts', script]);
  }
  const links = [...README.matchAll(/\]\(([^)#:]+)\)/g)].map(([, link = '']) => link);
  expect(links.length).toBeGreaterThan(10);
  expect(links.filter((link) => !existsSync(path.join(ROOT, link)))).toEqual([]);
});
