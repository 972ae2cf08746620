/** Reads the log of a job by page, and adds what is new to what is known. */
import type { LogEntry } from 'nightshift/client';

/** `isWhole`: there was nothing more at the last read. */
export type JobLog = { entries: readonly LogEntry[]; isWhole: boolean };

/** The entries after one; undefined: from the start. `next` null: there are no more. */
export type ReadLog = (after: string | undefined) => Promise<{ entries: readonly LogEntry[]; next: string | null }>;

/** Entries that are read at first, and with each press of a button. */
const AT_ONCE = 1_000;
/** Reads after a change of the calls: the last entries of a call are stored a moment after its result. */
const READS_AFTER = 4;

export class LogReader {
  #upto = AT_ONCE;
  #left = READS_AFTER;
  #calls = '';

  /** `calls`: another text after a call began or ended. */
  renew(calls: string): void {
    if (calls !== this.#calls) this.#left = READS_AFTER;
    this.#calls = calls;
  }

  /** The next read continues a log of `known` entries that is not whole. */
  more(known: number): void {
    this.#upto = Math.max(this.#upto, known) + AT_ONCE;
  }

  /** Whether it is read again: while a call runs, and some times afterwards. */
  isActive(isCallRunning: boolean): boolean {
    return isCallRunning || this.#left > 0;
  }

  /** Returns `known` itself if nothing has changed. */
  async read(known: JobLog | undefined, read: ReadLog): Promise<JobLog> {
    this.#left -= 1;
    const entries = [...(known?.entries ?? [])];
    if (known?.isWhole === false && entries.length >= this.#upto) return known;
    let isWhole: boolean;
    do {
      const page = await read(entries.at(-1)?.id);
      entries.push(...page.entries);
      isWhole = page.next === null;
    } while (!isWhole && entries.length < this.#upto);
    const isSame = known !== undefined && entries.length === known.entries.length && isWhole === known.isWhole;
    return isSame ? known : { entries, isWhole };
  }
}
