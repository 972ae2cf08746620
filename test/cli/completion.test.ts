// The scripts that complete commands: each installed shell reads its own, and bash completes with it.
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeFolder, temporaryFolder } from '../services/temporary-folder.ts';
import { run, start } from './command-line.ts';

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

/** What bash gives to the function of a script, and what it gets from it. */
const COMPLETED =
  'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}; _nightshift; echo "${COMPREPLY[@]}"';

test.skipIf(!isThere('bash'))('bash completes commands, options and values', async () => {
  const file = await script('bash');
  const completed = (words: readonly string[]): string[] => {
    const { stdout } = spawnSync('bash', ['-c', COMPLETED, file, ...words], { encoding: 'utf8' });
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
  // Options before the command.
  expect(completed(['nightshift', '--ur'])).toEqual(['--url']);
  expect(completed(['nightshift', '--json', 'do'])).toEqual(['doctor']);
  expect(completed(['nightshift', '--profile', 'two', 'jobs', '--wo'])).toEqual(['--worker']);
  expect(completed(['nightshift', '--json', 'workers', 'delete', '--y'])).toEqual(['--yes']);
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
    const line = `nightshift() { echo "named-$2"; }; ${COMPLETED}`;
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
  expect(completed('--profile', 'named')).toEqual(['named-profiles']);
  expect(completed('--profile', 'two', 'tree', 'named')).toEqual(['named-workers']);
});

/** What fish offers for a line, without the descriptions. */
async function fishOffers(line: string): Promise<string[]> {
  const program = 'function nightshift; echo "named-$argv[2]"; end; source $argv[1]; complete -C $argv[2]';
  const { stdout, stderr } = spawnSync('fish', ['-c', program, await script('fish'), line], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.split('\n').flatMap((offered) => offered.split('\t')[0] || []);
}

test.skipIf(!isThere('fish'))('fish completes commands, options, values and names that the API has', async () => {
  expect(await fishOffers('nightshift do')).toEqual(['doctor']);
  expect(await fishOffers('nightshift jobs --wo')).toEqual(['--worker']);
  expect(await fishOffers('nightshift jobs --status fa')).toEqual(['failed']);
  expect(await fishOffers('nightshift workers st')).toEqual(['start', 'stop']);
  expect(await fishOffers('nightshift workers delete --y')).toEqual(['--yes']);
  expect(await fishOffers('nightshift tree ')).toEqual(['named-workers']);
  expect(await fishOffers('nightshift workers stop n')).toEqual(['named-workers']);
  expect(await fishOffers('nightshift jobs --role=')).toEqual(['--role=named-roles']);
  // A subcommand with the name of a command.
  expect(await fishOffers('nightshift schedules run --p')).toEqual(['--profile']);
  // Options before the command.
  expect(await fishOffers('nightshift --ur')).toEqual(['--url']);
  expect(await fishOffers('nightshift --url http://x:1 do')).toEqual(['doctor']);
  expect(await fishOffers('nightshift --profile n')).toEqual(['named-profiles']);
  expect(await fishOffers('nightshift --profile two tree n')).toEqual(['named-workers']);
});

/** What zsh makes of a line at its terminal when the Tab key is pressed at its end. */
async function zshCompletes(lines: readonly string[]): Promise<string[]> {
  const file = await script('zsh');
  const shell = start(
    ['zsh'],
    { TERM: 'xterm', HOME: folder },
    { command: ['script', '-qec', 'zsh -f -i', '/dev/null'] },
  );
  shell.write('autoload -U compinit; compinit -u -D; PS1=; unsetopt beep\n');
  // A program in place of `nightshift`, which tells what it was asked for.
  shell.write('nightshift() { if [[ "$1" = complete ]]; then echo "named-$2"; else echo "ran" "$*."; fi }\n');
  shell.write(`source ${file}\n`);
  const completed: string[] = [];
  for (const line of lines) {
    shell.write(`nightshift ${line}\t\n`);
    await shell.says('out', new RegExp(`(?:ran [^.]*\\.[^]*){${completed.length + 1}}`));
    completed.push([...shell.output().out.matchAll(/ran ([^.]*)\./g)].at(-1)?.[1] ?? '');
  }
  shell.write('exit\n');
  await shell.done;
  return completed;
}

const hasScript = process.platform === 'linux' && isThere('script');

test.skipIf(!hasScript || !isThere('zsh'))(
  'zsh completes commands, options, values and names that the API has',
  async () => {
    const completed = await zshCompletes([
      'do',
      'jobs --wo',
      'jobs --status fa',
      'workers del',
      'workers delete --y',
      'tree na',
      'workers stop na',
      'jobs --role na',
      // A subcommand with the name of a command.
      'schedules run --prof',
      // Options before the command.
      '--ur',
      '--url http://x:1 do',
      '--profile na',
      '--profile two tree na',
      '--json workers delete --y',
    ]);
    expect(completed).toEqual([
      'doctor',
      'jobs --worker',
      'jobs --status failed',
      'workers delete',
      'workers delete --yes',
      'tree named-workers',
      'workers stop named-workers',
      'jobs --role named-roles',
      'schedules run --profile',
      '--url',
      '--url http://x:1 doctor',
      '--profile named-profiles',
      '--profile two tree named-workers',
      '--json workers delete --yes',
    ]);
  },
);

test('another shell is refused', async () => {
  expect((await run(['completion', 'tcsh'])).code).toBe(2);
});
