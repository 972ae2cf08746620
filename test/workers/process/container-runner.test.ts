// `run_command` in a container: the workspace and nothing else, no network, limits, and a timeout. Needs Docker and an
// image.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Json } from '../../../src/core/json.ts';
import { RUN_COMMAND_DEFAULTS } from '../../../src/tools/built-in/command/limits.ts';
import { runCommand } from '../../../src/tools/built-in/command/run-command.ts';
import { FILE_LIMITS } from '../../../src/tools/built-in/files/limits.ts';
import { fileTools } from '../../../src/tools/built-in/files/files.ts';
import { createWorkspaces } from '../../../src/tools/built-in/files/workspaces.ts';
import { RESULT_CHARS, refusedWith, runnerFor, temporaryFolder } from '../../tools/built-in-runner.ts';
import { call } from '../../tools/invoke.ts';

const IMAGE = 'debian:bookworm-slim';
const hasImage = spawnSync('docker', ['image', 'inspect', IMAGE], { stdio: 'ignore' }).status === 0;
const PATH = process.env['PATH'] ?? '';
const HOME = process.env['HOME'] ?? '/';

let base: Awaited<ReturnType<typeof temporaryFolder>>;
let run: (input: Json, signal?: AbortSignal) => ReturnType<ReturnType<typeof runnerFor>>;
const { contextId, tenantName } = call('run_command', {});
const here = (): string => path.join(base.path, tenantName, contextId);

beforeEach(async () => {
  base = await temporaryFolder();
  run = runnerIn({});
});
afterEach(() => base.remove());

function runnerIn(over: Partial<typeof RUN_COMMAND_DEFAULTS>) {
  const workspaces = createWorkspaces(base.path);
  const tools = [
    runCommand({
      workspaces,
      limits: {
        ...RUN_COMMAND_DEFAULTS,
        runner: 'container',
        image: IMAGE,
        memoryMb: 64,
        processes: 32,
        ...over,
      },
      files: FILE_LIMITS,
      resultChars: RESULT_CHARS,
      path: PATH,
      docker: { HOME },
    }),
    ...fileTools({ workspaces, limits: FILE_LIMITS, resultChars: RESULT_CHARS }),
  ];
  const runner = runnerFor(tools);
  return (input: Json, signal?: AbortSignal) => runner('run_command', input, { contextId, tenantName }, signal);
}

const sh = (script: string): Json => ({ argv: ['sh', '-c', script], timeout_s: 30 });
const ours = (): string =>
  execFileSync('docker', ['ps', '--all', '--quiet', '--filter', `volume=${here()}`], { encoding: 'utf8' });

describe.runIf(hasImage)('a command in a container', { timeout: 60_000 }, () => {
  test('sees its workspace and writes there, and does not run as root', async () => {
    mkdirSync(here(), { recursive: true });
    writeFileSync(path.join(here(), 'in'), 'given');
    expect(await run(sh('pwd; cat in; echo made > out; exit 3'))).toEqual({
      isError: false,
      result: { exit_code: 3, stdout: '/workspace\ngiven', stderr: '' },
    });
    expect(readdirSync(here())).toEqual(['in', 'out']);
    expect(await run(sh('[ "$(id -u)" != 0 ] && touch /etc/x'))).toMatchObject({
      result: { exit_code: 1, stderr: expect.stringContaining('Read-only file system') },
    });
  });

  test('has no network, no privileges, few processes, and a separate environment', async () => {
    const script = [
      'ls /sys/class/net',
      'grep -E "CapEff|NoNewPrivs" /proc/self/status',
      'cat /sys/fs/cgroup/pids.max /sys/fs/cgroup/pids/pids.max 2>/dev/null',
      'env | cut -d= -f1 | sort | tr "\\n" " "',
    ].join('; ');
    const received = await run(sh(script));
    expect(received).toMatchObject({ result: { exit_code: 0 } });
    expect(JSON.stringify(received)).toMatch(
      /"lo\\nCapEff:\\t0+\\nNoNewPrivs:\\t1\\n32\\n(?:HOME|HOSTNAME|LANG|PATH|PWD| )+"/,
    );
  });

  test('receives an argument unchanged, whatever it looks like', async () => {
    expect(await run({ argv: ['printf', '%s|', '--privileged', '$(id)', '-v', '/:/host'] })).toMatchObject({
      result: { exit_code: 0, stdout: '--privileged|$(id)|-v|/:/host|' },
    });
    expect(await run({ argv: ['--privileged', 'id'] })).toEqual(refusedWith('command_not_found'));
    expect(await run({ argv: ['no-such-command'] })).toEqual(refusedWith('command_not_found'));
    expect(await run(sh('exit 127'))).toMatchObject({ isError: false, result: { exit_code: 127 } });
  });

  test('is stopped at its timeout, and leaves no container', async () => {
    expect(await run({ argv: ['sh', '-c', 'echo begun; sleep 100'], timeout_s: 3 })).toEqual(
      refusedWith('timed_out', { stdout: expect.any(String), stderr: '' }),
    );
    await vi.waitFor(() => expect(ours()).toBe(''), { timeout: 20_000, interval: 200 });
  });

  test('is stopped with its call', async () => {
    const abort = new AbortController();
    const received = run(sh('touch begun; sleep 100'), abort.signal);
    await vi.waitFor(() => expect(readdirSync(here())).toEqual(['begun']), { timeout: 20_000 });
    abort.abort();
    expect(await received).toBeNull();
    await vi.waitFor(() => expect(ours()).toBe(''), { timeout: 20_000, interval: 200 });
  });

  test('reports a missing image', async () => {
    expect(await runnerIn({ image: 'localhost:1/no-such-image' })({ argv: ['ls'] })).toEqual(
      refusedWith('runner_unavailable'),
    );
  });
});

test('reports that Docker is missing', async () => {
  const runner = runnerFor([
    runCommand({
      workspaces: createWorkspaces(base.path),
      limits: { ...RUN_COMMAND_DEFAULTS, runner: 'container', image: IMAGE },
      files: FILE_LIMITS,
      resultChars: RESULT_CHARS,
      path: '/nowhere',
      docker: {},
    }),
  ]);
  expect(await runner('run_command', { argv: ['ls'] })).toEqual(refusedWith('runner_unavailable'));
});
