/** A line of the log, for people. Lines that are no log, such as the output of a tool, stay as they are. */
import { parseId, type JobId } from '../../core/ids.ts';
import type { Ink } from '../terminal/ink.ts';
import { oneLine, safe } from '../terminal/safe.ts';

/** `hidden`: a line that says nothing to a developer. `ended`: a job ended, about which more can be read. */
export type Shown = { kind: 'hidden' } | { kind: 'text'; text: string } | { kind: 'ended'; jobId: JobId; at: Date };

type Entry = Readonly<Record<string, unknown>>;

const WARN = 40;
const ERROR = 50;
const INFO = 30;

/** Fields that every line has. */
const USUAL: ReadonlySet<string> = new Set(['level', 'time', 'pid', 'msg', 'err', 'reqId']);

/** What a process says of its own start and end. */
const ROUTINE: ReadonlySet<unknown> = new Set(['worker process is up', 'shutting down', 'draining', 'drained']);

/** `all`: the log level is debug or trace, so nothing is hidden. */
export function formatLine(line: string, ink: Ink, all: boolean): Shown {
  const entry = toEntry(line);
  if (entry === null) return { kind: 'text', text: safe(line) };
  const at = new Date(Number(entry['time']));
  const jobId = entry['msg'] === 'job ended' ? parseId<JobId>(textOf(entry['job_id'])) : null;
  if (jobId !== null) return { kind: 'ended', jobId, at };
  if (!all && isRoutine(entry)) return { kind: 'hidden' };
  const fields = Object.entries(entry)
    .filter(([name, value]) => !USUAL.has(name) && value !== null)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const words = [
    ink('dim', clockOf(at)),
    levelOf(Number(entry['level']), ink),
    oneLine(textOf(entry['msg'])),
    ink('dim', oneLine(fields.join(' '))),
  ];
  return {
    kind: 'text',
    text: [words.filter((word) => word !== '').join(' '), ...errorLines(entry['err'], ink)].join('\n'),
  };
}

function toEntry(line: string): Entry | null {
  if (!line.startsWith('{"level":')) return null;
  try {
    const entry: unknown = JSON.parse(line);
    return isEntry(entry) ? entry : null;
  } catch {
    return null;
  }
}

function isEntry(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null;
}

/** Requests that were answered as they should be, and the start and end of processes. */
function isRoutine({ level, msg, status }: Entry): boolean {
  if (msg === 'request') return Number(status) < 500;
  return Number(level) <= INFO && (ROUTINE.has(msg) || textOf(msg).startsWith('Server listening at '));
}

function levelOf(level: number, ink: Ink): string {
  if (level >= ERROR) return ink('red', 'error');
  if (level >= WARN) return ink('yellow', 'warn');
  return level >= INFO ? ink('cyan', 'info') : ink('dim', 'debug');
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The stack, which begins with the message. */
function errorLines(error: unknown, ink: Ink): string[] {
  if (!isEntry(error)) return [];
  const text = textOf(error['stack']) || textOf(error['message']);
  return text === '' ? [] : [ink('dim', safe(text).replaceAll(/^/gm, '  '))];
}

/** The local time of day. */
export function clockOf(at: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}
