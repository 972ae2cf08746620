// `run_command` in namespaces of its own: the workspace, programs, and nothing else. Needs Linux and bubblewrap.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Json } from '../../src/core/json.ts';
import { RUN_COMMAND_DEFAULTS, type RunCommandLimits } from '../../src/tools/built-in/command/limits.ts';
import { runCommand } from '../../src/tools/built-in/command/run-command.ts';
import { FILE_LIMITS } from '../../src/tools/built-in/files/limits.ts';
import { createWorkspaces } from '../../src/tools/built-in/files/workspaces.ts';
import { RESULT_CHARS, refusedWith, runnerFor, temporaryFolder } from './built-in-runner.ts';
import { call } from './invoke.ts';

const works =
  spawnSync('bwrap', ['--unshare-all', '--unshare-user', '--disable-userns', '--ro-bind', '/', '/', 'true']).status ===
  0;

const { contextId, tenantName } = call('run_command', {});
let base: Awaited<ReturnType<typeof temporaryFolder>>;
const here = (...names: string[]): string => path.join(base.path, 'workspaces', tenantName, contextId, ...names);

beforeEach(async () => {
  base = await temporaryFolder();
  mkdirSync(here(), { recursive: true });
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await base.remove();
});

function run(input: Json, limits: Partial<RunCommandLimits> = {}, signal?: AbortSignal) {
  const tool = runCommand({
    workspaces: createWorkspaces(path.join(base.path, 'workspaces')),
    limits: { ...RUN_COMMAND_DEFAULTS, runner: 'bubblewrap', ...limits },
    files: FILE_LIMITS,
    resultChars: RESULT_CHARS,
    path: '/usr/local/bin:/usr/bin:/bin',
    docker: {},
  });
  return runnerFor([tool])('run_command', input, { contextId, tenantName }, signal);
}
const sh = (script: string): Json => ({ argv: ['sh', '-c', script], timeout_s: 30 });
const outputOf = async (script: string, limits: Partial<RunCommandLimits> = {}): Promise<string> => {
  const output = await run(sh(script), limits);
  if (output === null) throw new Error('The call was aborted.');
  return (output.result as { stdout: string }).stdout;
};

describe.runIf(works)('in bubblewrap', () => {
  test('sees its workspace and writes there', async () => {
    writeFileSync(here('in'), 'given');
    expect(await run(sh('pwd; cat in; echo made > out; exit 3'))).toEqual({
      isError: false,
      result: { exit_code: 3, stdout: '/workspace\ngiven', stderr: '' },
    });
    expect(readdirSync(here())).toEqual(['in', 'out']);
  });

  test('reaches neither the environment of the worker process, nor its processes, nor its files', async () => {
    vi.stubEnv('DATABASE_URL', 'postgres://secret');
    writeFileSync(path.join(base.path, 'secret'), 'of others');
    const probe = `cat /proc/[0-9]*/environ | tr '\\0' '\\n'; cat ${base.path}/secret ../*/secret /etc/shadow; ls ${base.path}; kill -9 ${process.pid}`;
    const output = await run(sh(probe));
    expect(output).toMatchObject({ isError: false });
    expect(JSON.stringify(output)).not.toMatch(/postgres:|of others|root:/);
    expect(await outputOf('ls /proc | grep -c "^[0-9]"')).toMatch(/^[1-6]\n$/);
  });

  test('has no network, no privileges and no way to more', async () => {
    expect(await outputOf('cat /proc/net/dev | tail -n +3 | cut -d: -f1')).toMatch(/^\s*lo\n$/);
    expect(await outputOf('grep -E "CapEff|NoNewPrivs" /proc/self/status')).toBe(
      'CapEff:\t0000000000000000\nNoNewPrivs:\t1\n',
    );
    for (const script of ['touch /x', 'touch /usr/x', 'touch /etc/x', 'unshare -Ur true'])
      expect(await run(sh(script))).toMatchObject({
        result: { exit_code: expect.not.toSatisfy((code) => code === 0) },
      });
    expect(await outputOf('id -u')).toBe('65534\n');
    expect((await outputOf('env | cut -d= -f1 | sort | tr "\\n" " "', { env: { CI: '1' } })).trim()).toBe(
      'CI HOME LANG PATH PWD TMPDIR',
    );
  });

  test('may read the paths that the operator names, and not write there', async () => {
    writeFileSync(path.join(base.path, 'secret'), 'shared');
    expect(await outputOf(`cat ${base.path}/secret; touch ${base.path}/x`, { readOnly: [base.path] })).toBe('shared');
    expect(readdirSync(base.path).sort()).toEqual(['secret', 'workspaces']);
  });

  test('receives an argument unchanged, whatever it looks like', async () => {
    expect(await run({ argv: ['printf', '%s|', '--bind', '/', '$(id)'] })).toMatchObject({
      result: { exit_code: 0, stdout: '--bind|/|$(id)|' },
    });
    expect(await run({ argv: ['--bind', '/', '/'] })).toEqual(refusedWith('command_not_found'));
    expect(await run({ argv: ['no-such-command'] })).toEqual(refusedWith('command_not_found'));
    expect(await run({ argv: ['/usr'] })).toEqual(refusedWith('command_failed'));
    expect(await run(sh('exit 1'))).toMatchObject({ isError: false, result: { exit_code: 1 } });
  });

  test('is stopped at its timeout, with all its children', async () => {
    const output = await run({ argv: ['sh', '-c', 'setsid sleep 98765 & echo begun; wait'], timeout_s: 2 });
    expect(output).toEqual(refusedWith('timed_out', { stdout: 'begun\n', stderr: '' }));
    await vi.waitFor(() => expect(spawnSync('pgrep', ['-f', 'sleep 98765']).status).toBe(1), {
      timeout: 10_000,
    });
  });

  test('is stopped where it uses too much, whatever its parents do', async () => {
    const bomb = sh('for i in 1 2 3 4 5 6 7 8; do setsid sh -c "sleep 60 & sleep 60 &" & done; sleep 60');
    expect(await run(bomb, { processes: 10 })).toEqual(
      refusedWith('limit_exceeded', { stdout: '', stderr: expect.any(String) }),
    );
    expect(await run(sh('head -c 30000000 /dev/zero > /tmp/f'), { memoryMb: 20 })).toMatchObject({
      result: { stderr: expect.stringContaining('No space left') },
    });
  });
});

test('without bubblewrap it returns an error', async () => {
  const tool = runCommand({
    workspaces: createWorkspaces(base.path),
    limits: { ...RUN_COMMAND_DEFAULTS, runner: 'bubblewrap' },
    files: FILE_LIMITS,
    resultChars: RESULT_CHARS,
    path: '/nowhere',
    docker: {},
  });
  const output = await runnerFor([tool])('run_command', { argv: ['ls'] }, { contextId, tenantName });
  expect(output).toEqual(refusedWith('runner_unavailable'));
});
