// The scripts that complete commands: each installed shell reads its own, and bash completes with it.
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeFolder, temporaryFolder } from '../services/temporary-folder.ts';
import { run } from './command-line.ts';

let folder = '';
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => removeFolder(folder));

async function script(shell: string): Promise<string> {
  const { code, out } = await run(['completion', shell]);
  expect(code).toBe(0);
  const file = path.join(folder, `nightshift.${shell}`);
  await writeFile(file, out);
  return file;
}

function isThere(shell: string): boolean {
  return spawnSync(shell, ['--version']).status === 0;
}

for (const shell of ['bash', 'zsh', 'fish']) {
  test.skipIf(!isThere(shell))(`${shell} can read its script`, async () => {
    const { status, stderr } = spawnSync(shell, ['-n', await script(shell)], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  test(`the script of ${shell} contains commands, options and choices`, async () => {
    const { out } = await run(['completion', shell]);
    for (const word of ['doctor', 'max-steps', 'incomplete', 'unknown_outcome', 'put']) expect(out).toContain(word);
  });
}

test.skipIf(!isThere('bash'))('bash completes commands, options and values', async () => {
  const file = await script('bash');
  const completed = (words: readonly string[]): string[] => {
    const line = `source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _nightshift; echo "\${COMPREPLY[@]}"`;
    const { stdout } = spawnSync('bash', ['-c', line, file, ...words], { encoding: 'utf8' });
    return stdout.trim().split(' ');
  };
  expect(completed(['nightshift', 'do'])).toEqual(['doctor']);
  expect(completed(['nightshift', 'jobs', '--wo'])).toEqual(['--worker']);
  expect(completed(['nightshift', 'jobs', '--status', 'fa'])).toEqual(['failed']);
  expect(completed(['nightshift', 'completion', 'z'])).toEqual(['zsh']);
  expect(completed(['nightshift', 'workers', 'st'])).toEqual(['stop', 'start']);
  expect(completed(['nightshift', 'workers', '--pa'])).toEqual(['--parent']);
  expect(completed(['nightshift', 'workers', 'delete', '--y'])).toEqual(['--yes']);
  expect(completed(['nightshift', 'workers', 'stop', '--y'])).toEqual(['']);
});

test('zsh calls for names with a space before, so that nothing comes before their kind', async () => {
  const { out } = await run(['completion', 'zsh']);
  expect(out).toContain(': _nightshift_names workers');
  expect(out).not.toMatch(/:_nightshift_names/);
});

test('complete lists names for scripts, and nothing where the API does not answer', async () => {
  const away = await run(['complete', 'workers'], { NIGHTSHIFT_URL: 'http://127.0.0.1:1' });
  expect(away).toEqual({ code: 0, out: '', err: '' });
  expect((await run(['complete', 'nonsense'])).code).toBe(2);
});

test.skipIf(!isThere('bash'))('bash completes names that the API has', async () => {
  const file = await script('bash');
  const completed = (...words: string[]): string[] => {
    // A program in place of `nightshift`, which tells what it was asked for.
    const line = `nightshift() { echo "named-$2"; }; source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _nightshift; echo "\${COMPREPLY[@]}"`;
    const { stdout } = spawnSync('bash', ['-c', line, file, 'nightshift', ...words], { encoding: 'utf8' });
    return stdout.trim().split(' ');
  };
  const asked = (text: string): string => {
    const script = `nightshift() { echo "$*"; }; source "$0"; COMP_WORDS=(nightshift); COMP_LINE="$1"; COMP_POINT=\${#1}; _nightshift_names jobs`;
    return spawnSync('bash', ['-c', script, file, text], { encoding: 'utf8' }).stdout.trim();
  };
  expect(asked('nightshift job ')).toBe('complete jobs');
  expect(asked('nightshift job --profile two ')).toBe('complete jobs --profile two');
  expect(asked('nightshift --url=http://x:1 job ')).toBe('complete jobs --url http://x:1');
  expect(asked('nightshift job --profile ')).toBe('complete jobs');
  expect(completed('tree', 'named')).toEqual(['named-workers']);
  expect(completed('jobs', '--role', '')).toEqual(['named-roles']);
  expect(completed('workers', 'stop', 'n')).toEqual(['named-workers']);
  expect(completed('job', 'named')).toEqual(['named-jobs']);
  expect(completed('webhooks', 'show', 'named')).toEqual(['named-webhooks']);
  expect(completed('jobs', '--parent', 'named')).toEqual(['named-jobs']);
  expect(completed('tree', '--js')).toEqual(['--json']);
});

test('another shell is refused', async () => {
  expect((await run(['completion', 'tcsh'])).code).toBe(2);
});
