/** The resource usage of a process, from the operating system. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** Clock ticks per second on Linux. */
const TICKS = 100;

/** CPU seconds of all threads so far. */
export function cpuSeconds(pid: number): number {
  if (existsSync('/proc/self/stat')) {
    const fields = fieldsOf(pid);
    return (Number(fields[11]) + Number(fields[12])) / TICKS;
  }
  const [seconds = 0, minutes = 0, hours = 0] = ask('time', pid).split(':').reverse().map(Number);
  return seconds + 60 * minutes + 3600 * hours;
}

/** CPU seconds of all child processes of this process that have ended; null: unknown. */
export function endedChildrenCpu(): number | null {
  if (!existsSync('/proc/self/stat')) return null;
  const fields = fieldsOf('self');
  return (Number(fields[13]) + Number(fields[14])) / TICKS;
}

/** Of `/proc/…/stat`, after the name of the program. */
function fieldsOf(pid: number | 'self'): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** Resident memory in MB. */
export function residentMb(pid: number): number {
  return Number(ask('rss', pid)) / 1024;
}

/** The peak resident memory in MB; the current value if the system does not provide the peak. */
export function peakMb(pid: number): number {
  if (!existsSync('/proc/self/status')) return residentMb(pid);
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}

function ask(column: string, pid: number): string {
  return execFileSync('ps', ['-o', `${column}=`, '-p', String(pid)], { encoding: 'utf8' }).trim();
}
