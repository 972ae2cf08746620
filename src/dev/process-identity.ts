// Distinguishes a process from a later one with the same pid, by its start time.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const exec = promisify(execFile);

/** When the process started, in the notation of the system; null if no such process runs. */
export async function startOf(pid: number): Promise<string | null> {
  try {
    return process.platform === 'linux' ? await startOnLinux(pid) : await startElsewhere(pid);
  } catch {
    return null;
  }
}

/** The command line of a running process, its arguments separated by spaces; null where it cannot be read. */
export async function commandOf(pid: number): Promise<string | null> {
  try {
    if (process.platform === 'linux') {
      const raw = await readFile(`/proc/${pid}/cmdline`, 'utf8');
      return raw.split('\0').join(' ').trim();
    }
    const { stdout } = await exec('ps', ['-ww', '-o', 'command=', '-p', String(pid)]);
    return stdout.trim();
  } catch {
    return null;
  }
}

async function startOnLinux(pid: number): Promise<string | null> {
  // pid (name) state ppid …: the name may hold spaces and brackets, so count from the last one.
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' ? null : (fields[19] ?? null);
}

async function startElsewhere(pid: number): Promise<string | null> {
  const { stdout } = await exec('ps', ['-o', 'lstart=', '-p', String(pid)]);
  return stdout.trim() || null;
}
