/**
 * Runs a command in separate Linux namespaces (bubblewrap 0.8 or newer). The command sees only the workspace and the
 * programs of this machine, has no network and no privileges, and all its processes end with it. Its `/proc` shows only
 * its own processes, so it cannot read the environment of the worker process.
 */
import type { RunCommandLimits } from './limits.ts';

/** The path of the workspace inside the sandbox. */
const INSIDE = '/workspace';

/** Programs and the files needed to load them. Missing ones are skipped. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64'];
const OF_ETC = ['alternatives', 'ld.so.cache', 'localtime', 'ssl', 'ca-certificates', 'mime.types'];

const UNPRIVILEGED_ID = '65534';

/** The command line that runs `argv` in the sandbox. */
export function bubblewrapped(
  argv: readonly string[],
  workspace: string,
  env: Readonly<Record<string, string>>,
  { readOnly, memoryMb }: Pick<RunCommandLimits, 'readOnly' | 'memoryMb'>,
): string[] {
  const readable = (paths: readonly string[]) => paths.flatMap((place) => ['--ro-bind-try', place, place]);
  const variables = { HOME: INSIDE, TMPDIR: '/tmp', LANG: 'C.UTF-8', ...env };
  return [
    ['bwrap', '--unshare-all', '--unshare-user', '--disable-userns', '--die-with-parent', '--new-session'],
    ['--uid', UNPRIVILEGED_ID, '--gid', UNPRIVILEGED_ID, '--hostname', 'nightshift'],
    readable([...SYSTEM, ...OF_ETC.map((name) => `/etc/${name}`)]),
    ['--proc', '/proc', '--dev', '/dev'],
    // Files in /tmp are in memory.
    ['--size', String(memoryMb * 1_048_576), '--tmpfs', '/tmp'],
    readable(readOnly),
    ['--bind', workspace, INSIDE, '--remount-ro', '/', '--chdir', INSIDE, '--clearenv'],
    Object.entries(variables).flatMap(([name, value]) => ['--setenv', name, value]),
    ['--', ...argv],
  ].flat();
}
