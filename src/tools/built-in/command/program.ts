/** How a command is run: as a child of this process (in namespaces of its own or not), or in a container. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chown } from 'node:fs/promises';
import { Writable } from 'node:stream';
import type { RunCommandLimits } from './limits.ts';
import type { Program } from './runner.ts';
import type { Warden } from './warden.ts';

/** `env`: of the child, or of the command line of Docker. `fileBytes`: the largest file that may be written. */
type Wanted = {
  argv: readonly string[];
  workspace: string;
  env: Readonly<Record<string, string>>;
  outputBytes: number;
  fileBytes: number;
};

/** What a program needs of the warden. */
export type Wardship = Pick<Warden, 'began' | 'ended'>;

/**
 * Waits until it is let go, and becomes the program. Who could let it go may have died: then it ends. `PWD` and the like are
 * the shell's own; of the arguments it reads the first, in blocks of 512 bytes.
 */
const START_PIPE =
  'read -r go <&3 || exit; ulimit -c 0; ulimit -f "$1"; shift; unset PWD OLDPWD SHLVL; exec "$@" 3<&-';

/**
 * A process group of its own: what it starts is ended with it, unless it leaves the group. The program begins once the warden
 * was told of it. That it is there is known before: see `lookUp`.
 */
export function asProcess(
  { argv, workspace, env, outputBytes, fileBytes }: Wanted,
  warden: Wardship,
): Program {
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
    // It is gone.
  }
}

/** Nobody's user: who runs as root here is not root there. */
const NOBODY = 65_534;

/** A container that was being made while it was to be removed is removed again, in milliseconds. */
const AGAIN_MS = 2_000;

export async function asContainer(
  { argv: [command = '', ...args], workspace, env, outputBytes, fileBytes }: Wanted,
  limits: RunCommandLimits,
  warden: Wardship,
): Promise<Program> {
  const uid = process.getuid?.() ?? NOBODY;
  const [user, group] = uid === 0 ? [NOBODY, NOBODY] : [uid, process.getgid?.() ?? NOBODY];
  if (uid === 0) await chown(workspace, user, group);
  const name = `nightshift-${randomUUID()}`;
  const removal = ['docker', 'rm', '--force', name];
  const remove = (): void => {
    const [file = '', ...rest] = removal;
    spawn(file, rest, { stdio: 'ignore', env: { ...env }, detached: true })
      .on('error', () => undefined)
      .unref();
  };
  const run = [
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
    `--user=${user}:${group}`,
    '--workdir=/workspace',
    `--mount=type=bind,"source=${workspace.replaceAll('"', '""')}",target=/workspace`,
    '--env=HOME=/workspace',
    '--env=LANG=C.UTF-8',
    ...Object.entries(limits.env).map(([key, value]) => `--env=${key}=${value}`),
    `--entrypoint=${command}`,
    limits.image,
    ...args,
  ];
  return {
    outputBytes,
    begin() {
      warden.began(name, removal);
      return spawn('docker', run, { cwd: '/', env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    },
    stop: (child) => {
      killGroup(child);
      remove();
      setTimeout(remove, AGAIN_MS).unref();
    },
    tidy: () => warden.ended(name),
  };
}
