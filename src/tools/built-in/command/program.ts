/** Runs a command as a child process, sandboxed by bubblewrap or not, or in a container. */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chown } from 'node:fs/promises';
import { Writable } from 'node:stream';
import type { RunCommandLimits } from './limits.ts';
import type { Program } from './runner.ts';
import type { Warden } from './warden.ts';

/** `env`: the environment of the child, or of the Docker CLI. `fileBytes`: the maximum size of a written file. */
type Wanted = {
  argv: readonly string[];
  workspace: string;
  env: Readonly<Record<string, string>>;
  outputBytes: number;
  fileBytes: number;
};

/** The methods of the warden that a program uses. */
type Wardship = Pick<Warden, 'began' | 'ended'>;

/**
 * Waits for a line on the pipe, then becomes the program. If the pipe closes without one, because the worker process
 * died, it exits. The shell sets `PWD` and similar variables itself, so they are unset. The first argument is in blocks
 * of 512 bytes.
 */
const START_PIPE = 'read -r go <&3 || exit; ulimit -c 0; ulimit -f "$1"; shift; unset PWD OLDPWD SHLVL; exec "$@" 3<&-';

/**
 * Runs in its own process group. Processes that it starts are killed with the group, unless they leave it. The program
 * starts after the warden has been notified. The caller has checked that the program exists (`programFault`).
 */
export function asProcess({ argv, workspace, env, outputBytes, fileBytes }: Wanted, warden: Wardship): Program {
  const blocks = String(Math.ceil(fileBytes / 512));
  return {
    outputBytes,
    begin() {
      const child = spawn('/bin/sh', ['-c', START_PIPE, 'sh', blocks, ...argv], {
        cwd: workspace,
        env: { HOME: workspace, TMPDIR: workspace, LANG: 'C.UTF-8', ...env },
        stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
        detached: true,
      });
      const startPipe = child.stdio[3];
      startPipe?.on('error', () => undefined);
      if (child.pid !== undefined && startPipe instanceof Writable)
        warden.began(child.pid, null, () => startPipe.end('go\n', () => startPipe.destroy()));
      return child;
    },
    stop: killGroup,
    tidy: (child) => {
      killGroup(child);
      if (child.pid !== undefined) warden.ended(child.pid);
    },
  };
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Already gone.
  }
}

/** The uid of `nobody`: if this process runs as root, the command does not. */
const NOBODY = 65_534;

/** Milliseconds after which removal is repeated, in case the container was still being created. */
const AGAIN_MS = 2_000;

export async function asContainer(wanted: Wanted, limits: RunCommandLimits, warden: Wardship): Promise<Program> {
  const { workspace, env, outputBytes } = wanted;
  const uid = process.getuid?.() ?? NOBODY;
  const [user, group] = uid === 0 ? [NOBODY, NOBODY] : [uid, process.getgid?.() ?? NOBODY];
  if (uid === 0) await chown(workspace, user, group);
  const name = `nightshift-${randomUUID()}`;
  const removal = ['docker', 'rm', '--force', name];
  const run = containerArguments(wanted, limits, { name, user: `${user}:${group}` });
  return {
    outputBytes,
    begin() {
      warden.began(name, removal);
      return spawn('docker', run, { cwd: '/', env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    },
    stop: (child) => {
      killGroup(child);
      runDetached(removal, env);
      setTimeout(() => runDetached(removal, env), AGAIN_MS).unref();
    },
    tidy: () => warden.ended(name),
  };
}

function runDetached([file = '', ...args]: readonly string[], env: Wanted['env']): void {
  spawn(file, args, { stdio: 'ignore', env: { ...env }, detached: true })
    .on('error', () => undefined)
    .unref();
}

function containerArguments(
  { argv: [command = '', ...args], workspace, fileBytes }: Wanted,
  limits: RunCommandLimits,
  { name, user }: { name: string; user: string },
): string[] {
  return [
    'run',
    '--rm',
    '--init',
    `--name=${name}`,
    '--label=nightshift',
    '--network=none',
    `--memory=${limits.memoryMb}m`,
    `--memory-swap=${limits.memoryMb}m`,
    `--pids-limit=${limits.processes}`,
    `--ulimit=fsize=${fileBytes}`,
    '--ulimit=core=0',
    '--cap-drop=ALL',
    '--security-opt=no-new-privileges',
    '--read-only',
    '--tmpfs=/tmp',
    `--user=${user}`,
    '--workdir=/workspace',
    `--mount=type=bind,"source=${workspace.replaceAll('"', '""')}",target=/workspace`,
    '--env=HOME=/workspace',
    '--env=LANG=C.UTF-8',
    ...Object.entries(limits.env).map(([key, value]) => `--env=${key}=${value}`),
    `--entrypoint=${command}`,
    limits.image,
    ...args,
  ];
}
