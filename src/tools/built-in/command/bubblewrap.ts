/**
 * A command in Linux namespaces of its own (bubblewrap 0.8 or newer): it sees the workspace, programs of this machine and
 * nothing else, has no network and no rights, and ends with all it started. No process but its own is in its `/proc`, so that
 * the environment of the worker process is out of reach.
 */
import type { RunCommandLimits } from './limits.ts';

/** Where the workspace is, for a command. */
export const INSIDE = '/workspace';

/** Programs, and what they need to be loaded. Those that are not there are left out. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64'];
const OF_ETC = ['alternatives', 'ld.so.cache', 'localtime', 'ssl', 'ca-certificates', 'mime.types'];

const UNPRIVILEGED_ID = '65534';

/** A command line that runs `argv` so. */
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
    // What lies there is memory.
    ['--size', String(memoryMb * 1_048_576), '--tmpfs', '/tmp'],
    readable(readOnly),
    ['--bind', workspace, INSIDE, '--remount-ro', '/', '--chdir', INSIDE, '--clearenv'],
    Object.entries(variables).flatMap(([name, value]) => ['--setenv', name, value]),
    ['--', ...argv],
  ].flat();
}
