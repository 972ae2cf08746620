// Attacks that `run_command` must stop: arguments that a shell would interpret, commands that are not allowed, secrets
// of this process, endless output and time, and processes that outlive it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Json } from '../../src/core/json.ts';
import { isAllowed } from '../../src/tools/built-in/command/allowed.ts';
import { asProcess } from '../../src/tools/built-in/command/program.ts';
import { RUN_COMMAND_DEFAULTS, type RunCommandLimits } from '../../src/tools/built-in/command/limits.ts';
import { runCommand } from '../../src/tools/built-in/command/run-command.ts';
import { FILE_LIMITS } from '../../src/tools/built-in/files/limits.ts';
import { createWorkspaces } from '../../src/tools/built-in/files/workspaces.ts';
import { call } from './invoke.ts';
import { RESULT_CHARS, refusedWith, runnerFor, temporaryFolder, type BuiltInResult } from './built-in-runner.ts';

let base: Awaited<ReturnType<typeof temporaryFolder>>;
const of = call('run_command', {});
const owner = { contextId: of.contextId, tenantName: of.tenantName };
beforeEach(async () => {
  base = await temporaryFolder();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await base.remove();
});

const here = (...names: string[]): string => path.join(base.path, owner.tenantName, owner.contextId, ...names);

function toolOf(limits: Partial<RunCommandLimits> = {}, files = FILE_LIMITS) {
  return runCommand({
    workspaces: createWorkspaces(base.path),
    limits: { ...RUN_COMMAND_DEFAULTS, outputBytes: 1_000, ...PROCESS, ...limits },
    files,
    resultChars: RESULT_CHARS,
    path: '/usr/local/bin:/usr/bin:/bin',
    docker: {},
  });
}

const PROCESS = { runner: 'process', tenants: [owner.tenantName] } as const;

const texts = { stdout: expect.any(String), stderr: expect.any(String) };

const run = (input: Json, limits: Partial<RunCommandLimits> = {}, signal?: AbortSignal, files = FILE_LIMITS) =>
  runnerFor([toolOf(limits, files)])('run_command', input, owner, signal);
const stdoutOf = (output: BuiltInResult | null): string => {
  if (output === null) throw new Error('The call was aborted.');
  return (output.result as { stdout: string }).stdout;
};
const node = (program: string): Json => ({ argv: [process.execPath, '-e', program] });

test('runs in the workspace, and returns code and both streams', async () => {
  expect(await run({ argv: ['sh', '-c', 'pwd; echo no >&2; exit 3'] })).toEqual({
    isError: false,
    result: { exit_code: 3, stdout: `${here()}\n`, stderr: 'no\n' },
  });
  expect(await run({ argv: ['sh', '-c', 'kill -9 $$'] })).toMatchObject({ result: { exit_code: 137 } });
});

describe('injection', () => {
  test.each([
    '; touch pwned',
    '&& touch pwned',
    '| touch pwned',
    '$(touch pwned)',
    '`touch pwned`',
    '\ntouch pwned',
    '> pwned',
    '*',
    '$HOME',
    '${PATH}',
    "'; touch pwned; '",
    '"$(touch pwned)"',
    '\\',
    '%PATH%',
  ])('%j is an argument, and nothing else', async (argument) => {
    expect(await run({ argv: ['printf', '%s', argument] })).toEqual({
      isError: false,
      result: { exit_code: 0, stdout: argument, stderr: '' },
    });
    expect(readdirSync(here())).toEqual([]);
  });

  test.each<[string, Json, string]>([
    ['a whole command line', { argv: 'ls; touch pwned' }, 'invalid_input'],
    ['no arguments', { argv: [] }, 'invalid_input'],
    ['an empty name', { argv: [''] }, 'command_not_allowed'],
    ['an object', { argv: [{ toString: 'ls' }] }, 'invalid_input'],
    ['a NUL', { argv: ['ls', 'a\0b'] }, 'invalid_input'],
    ['a shell to be', { argv: ['ls'], shell: true }, 'invalid_input'],
    ['variables', { argv: ['ls'], env: { LD_PRELOAD: './x.so' } }, 'invalid_input'],
    ['another directory', { argv: ['ls'], cwd: '/' }, 'invalid_input'],
    ['no time', { argv: ['ls'], timeout_s: 0 }, 'invalid_input'],
    ['more time than there is', { argv: ['ls'], timeout_s: 601 }, 'invalid_input'],
    ['a command line as a name', { argv: ['ls -l'] }, 'command_not_found'],
    ['what is not there', { argv: ['no-such-command'] }, 'command_not_found'],
    ['what is no program', { argv: ['/etc/passwd'] }, 'command_failed'],
    ['a directory', { argv: ['/tmp'] }, 'command_failed'],
  ])('%s is refused', async (_, input, code) => {
    expect(await run(input)).toEqual(refusedWith(code));
  });
});

describe('the allowed commands', () => {
  test.each<[string, boolean]>([
    ['git', true],
    ['npm', true],
    ['npx', true],
    ['/usr/bin/ls', true],
    ['sh', false],
    ['./git', false],
    ['../git', false],
    ['/tmp/git', false],
    ['git ', false],
    ['GIT', false],
    ['git;sh', false],
    ['git\nsh', false],
    ['np/../../bin/sh', false],
    ['/usr/bin/../../tmp/x', false],
    ['', false],
  ])('%j: %s', (command, allowed) => {
    expect(isAllowed(command, ['git', 'np*', '/usr/bin/*'])).toBe(allowed);
  });

  test('no other command is run', async () => {
    expect(await run({ argv: ['sh', '-c', 'touch pwned'] }, { allow: ['git'] })).toEqual(
      refusedWith('command_not_allowed'),
    );
    expect(existsSync(here('pwned'))).toBe(false);
  });
});

test('a command sees no variable of its worker process', async () => {
  vi.stubEnv('ANTHROPIC_API_KEY', 'sk-ant-secret');
  vi.stubEnv('DATABASE_URL', 'postgres://secret');
  const output = await run({ argv: ['env'] }, { env: { CI: '1' } });
  const names = stdoutOf(output)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split('=')[0]);
  expect(new Set(names)).toEqual(new Set(['CI', 'HOME', 'LANG', 'PATH', 'TMPDIR']));
});

describe('an endless command', () => {
  test('has its output read to its end, and cut on both streams', async () => {
    const program = `const b = Buffer.alloc(5_000_000, 'x'); process.stderr.write(b, () => process.stdout.write(b));`;
    const output = await run(node(program));
    expect(output).toMatchObject({ isError: false, result: { exit_code: 0 } });
    const text = `${'x'.repeat(1_000)}\n[Truncated: 4999000 of 5000000 bytes were omitted.]`;
    expect(output).toMatchObject({ result: { stdout: text, stderr: text } });
  });

  test.each<[string, Json]>([
    ['output', { argv: ['yes'], timeout_s: 0.5 }],
    ['silence', { argv: ['sleep', '100'], timeout_s: 0.3 }],
    ['deafness', { argv: ['sh', '-c', 'trap "" TERM INT HUP; while :; do sleep 1; done'], timeout_s: 0.3 }],
  ])('%s is stopped, and its output so far is returned', async (_, input) => {
    expect(await run(input)).toEqual(
      refusedWith('timed_out', { stdout: expect.any(String), stderr: expect.any(String) }),
    );
  });

  test('that reads its input gets none', async () => {
    expect(await run({ argv: ['cat'] })).toMatchObject({ result: { exit_code: 0, stdout: '' } });
  });
});

describe.runIf(process.platform === 'linux')('a command that uses too much', () => {
  const hold = (megabytes: number) =>
    node(`globalThis.held = Buffer.alloc(${megabytes} << 20, 1); setTimeout(() => {}, 60_000)`);
  const many = { argv: ['sh', '-c', 'for i in 1 2 3 4 5 6 7 8; do (sleep 60; :) & done; wait'] };

  test('is stopped by its memory', async () => {
    expect(await run(hold(400), { memoryMb: 300 })).toEqual(refusedWith('limit_exceeded', texts));
  });

  test('is stopped by the memory of its children', async () => {
    const [, , program] = (hold(150) as { argv: string[] }).argv;
    const twice = `const { spawn } = require('node:child_process');
      for (const _ of [1, 2]) spawn(process.execPath, ['-e', ${JSON.stringify(program)}]);`;
    expect(await run(node(twice), { memoryMb: 300 })).toEqual(refusedWith('limit_exceeded', texts));
  });

  test('is stopped by its processes', async () => {
    expect(await run(many, { processes: 7 })).toEqual(refusedWith('limit_exceeded', texts));
  });

  test('is stopped by its written bytes, in one file or many', async () => {
    const files = { ...FILE_LIMITS, totalBytes: 1_000_000 };
    const one = await run({ argv: ['sh', '-c', 'head -c 2000000 /dev/zero > f'] }, {}, undefined, files);
    expect(one).toMatchObject({ isError: false, result: { exit_code: expect.any(Number) } });
    expect(statSync(here('f')).size).toBeLessThanOrEqual(1_000_448);
    const script = 'for i in 1 2 3 4; do head -c 900000 /dev/urandom > f$i; done; sleep 60';
    await rm(here('f'));
    expect(await run({ argv: ['sh', '-c', script] }, {}, undefined, files)).toEqual(
      refusedWith('quota_exceeded', texts),
    );
    expect(await run({ argv: ['true'] }, {}, undefined, files)).toEqual(refusedWith('quota_exceeded'));
  });
});

test('is refused as a plain process to tenants that are not in the list', async () => {
  expect(await run({ argv: ['true'] }, { tenants: ['another'] })).toEqual(refusedWith('runner_unavailable'));
});

describe('a child of a command', () => {
  const isAlive = (file: string): boolean => {
    const pid = Number(readFileSync(here(file), 'utf8'));
    try {
      // A zombie has ended.
      return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
    } catch {
      return false;
    }
  };
  const gone = (file: string) => vi.waitFor(() => expect(isAlive(file)).toBe(false), { timeout: 60_000 });
  const behind = 'sleep 100 & echo $! > child; ';

  test.runIf(process.platform === 'linux')('ends with it', async () => {
    expect(await run({ argv: ['sh', '-c', behind] })).toMatchObject({ result: { exit_code: 0 } });
    await gone('child');
  });

  test.runIf(process.platform === 'linux')('ends at its timeout', async () => {
    // Time enough to begin, also on a busy machine.
    expect(await run({ argv: ['sh', '-c', `${behind} wait`], timeout_s: 3 })).toMatchObject({
      isError: true,
    });
    await gone('child');
  });

  test.runIf(process.platform === 'linux')('ends with the call', async () => {
    const abort = new AbortController();
    const output = run({ argv: ['sh', '-c', `${behind} wait`] }, {}, abort.signal);
    await vi.waitFor(() => expect(readFileSync(here('child'), 'utf8')).toMatch(/\n/), { timeout: 60_000 });
    abort.abort();
    expect(await output).toBeNull();
    await gone('child');
  });

  test.runIf(process.platform === 'linux')('ends with the worker process, however that ends', async () => {
    const worker = spawn(process.execPath, ['test/tools/command-child.ts', base.path, owner.contextId], {
      stdio: 'ignore',
    });
    await vi.waitFor(() => expect(readFileSync(here('child'), 'utf8')).toMatch(/\n/), { timeout: 60_000 });
    worker.kill('SIGKILL');
    await gone('child');
  });
});

test('does not begin where its worker process dies before the warden knows it', async () => {
  const output = Promise.withResolvers<number | string>();
  const program = asProcess(
    {
      argv: ['touch', 'begun'],
      workspace: base.path,
      env: { PATH: '/usr/bin:/bin' },
      outputBytes: 1_000,
      fileBytes: 1_000,
    },
    { began: (id) => output.resolve(id), ended: () => undefined },
  );
  const child = program.begin();
  expect(await output.promise).toBe(child.pid);
  // Like the death of this process.
  child.stdio[3]?.destroy();
  expect(await once(child, 'exit')).toEqual([1, null]);
  expect(existsSync(path.join(base.path, 'begun'))).toBe(false);
});

test('approval is required first', () => {
  expect(toolOf().approval).toBe('always');
  expect(toolOf().descriptor.effect).toBe('once');
});
