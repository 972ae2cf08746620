/** What tools wrote to the logs of their calls, and their progress, as lines. */
import type { Client, LogEntry, Message, StreamEvent, ToolProgress } from '../../client/index.ts';
import type { Ink } from '../terminal/ink.ts';
import { oneLine, safeJson } from '../terminal/safe.ts';

/** Each entry once, although the log of a call is read while it runs and when its result is printed. */
export class CallLogs {
  readonly #client: Client;
  readonly #level: LogEntry['level'];
  readonly #known = new Set<string>();
  /** The last entry that was read of each running job. */
  readonly #last = new Map<string, string>();

  constructor(client: Client, level: LogEntry['level']) {
    this.#client = client;
    this.#level = level;
  }

  /** What is new in the log of the call whose result the message is. Empty: it is another message. */
  async ofResult({ job_id, content }: Message): Promise<LogEntry[]> {
    const calls = content.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : []));
    if (job_id === null) return [];
    const logs = await Promise.all(
      calls.map((tool_call_id) =>
        this.#client.jobs.logs(job_id, { tool_call_id, level: this.#level, limit: 200 }).all(),
      ),
    );
    return logs.flat().filter((entry) => this.#isNew(entry));
  }

  /** What is new in the log of a job. */
  async ofJob(jobId: string): Promise<LogEntry[]> {
    const after = this.#last.get(jobId);
    const more = after === undefined ? {} : { after };
    const entries = await this.#client.jobs.logs(jobId, { level: this.#level, limit: 200, ...more }).all();
    const last = entries.at(-1);
    if (last !== undefined) this.#last.set(jobId, last.id);
    return entries.filter((entry) => this.#isNew(entry));
  }

  #isNew({ id }: LogEntry): boolean {
    if (this.#known.has(id)) return false;
    this.#known.add(id);
    return true;
  }
}

export function entryText(ink: Ink, { level, message, fields }: LogEntry): string {
  const data = fields === null ? '' : ` ${ink('dim', safeJson(fields))}`;
  return `${ink(LOOKS[level], level.padEnd(5))} ${oneLine(message)}${data}`;
}

const LOOKS = { debug: 'dim', info: 'cyan', warn: 'yellow', error: 'red' } as const;

/** `fetching paper (2 of 3)` */
export function progressText({ message, done, total }: ToolProgress): string {
  const far = done === null ? null : total === null ? `${done}` : `${done} of ${total}`;
  if (message === null) return far ?? '';
  return far === null ? oneLine(message) : `${oneLine(message)} (${far})`;
}

/** Time between two lines about the progress of one call at least, in milliseconds. */
const SELDOM_MS = 1_000;

/** Lines about the progress of calls, about one a second for each. Null: the event is not printed. */
export function openProgressLines(now = (): number => performance.now()): (event: StreamEvent) => string | null {
  const printedAt = new Map<string, number>();
  /** The same progress may come twice. */
  const printed = new Map<string, string>();
  return ({ event, data }) => {
    if (event === 'ToolCallFinished') {
      printedAt.delete(data.tool_call_id);
      printed.delete(data.tool_call_id);
    }
    if (event !== 'ToolCallProgress' || printed.get(data.tool_call_id) === data.progress.at) return null;
    const last = printedAt.get(data.tool_call_id) ?? -Infinity;
    if (now() - last < SELDOM_MS) return null;
    printedAt.set(data.tool_call_id, now());
    printed.set(data.tool_call_id, data.progress.at);
    return `… ${oneLine(data.name)}: ${progressText(data.progress)}`;
  };
}
