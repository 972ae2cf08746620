/**
 * What one execution of a call reports. Everything here is bounded: entries and bytes of the log, and how often progress
 * is published. It only fills memory; the report writer stores it.
 */
import type { CallProgress, EntryLevel, LogEntry, OpenReport } from '../../core/tools/report.ts';
import type { Clock } from '../../core/time.ts';
import type { ExecutionId, StoredEntry } from '../../db/calls/tool-reports.ts';
import { fieldsOf, messageOf, progressOf } from '../../tools/run/reported.ts';

/** Entries, and bytes of their messages and fields, that one execution may store. */
const MOST_ENTRIES = 1_000;
const MOST_BYTES = 256 * 1024;

/** The share of both that `debug` and `info` may use, so that a later warning or error still has room. */
const SHARE_OF_LOW = 0.9;

/** The time between two progress events of one call, in milliseconds. */
const PUBLISH_MS = 250;

/**
 * After this time the last progress is published once more, in milliseconds: a client that read the call just before it was
 * stored, or did not know the call yet when the event came, then has it too.
 */
const REPEAT_MS = 1_500;

/** What is stored of a report beside its entries. */
export type Summary = { progress: CallProgress | null; entries: number; dropped: number };

export type ReportPorts = {
  clock: Clock;
  /** The number of the next entry: all executions of a run share the count. */
  nextNumber(): number;
  /** False: there is no room in memory, and the entry is dropped. */
  store(entry: StoredEntry, bytes: number): boolean;
  /** The summary has changed. */
  changed(report: CallReport): void;
  /** The call has ended: what it reported is stored soon. */
  ended(report: CallReport): void;
  publish(progress: CallProgress): void;
  debug(entry: LogEntry): void;
};

export class CallReport implements OpenReport {
  readonly id: ExecutionId;
  readonly #ports: ReportPorts;
  #progress: CallProgress | null = null;
  #entries = 0;
  #bytes = 0;
  /** Because of the limits of the call. */
  #beyond = 0;
  /** Because there was no room in memory. */
  #unstored = 0;
  #hasEnded = false;
  /** Runs while the last progress event is recent. */
  #timer: NodeJS.Timeout | null = null;
  #isUnpublished = false;
  #repeat: NodeJS.Timeout | null = null;

  constructor(id: ExecutionId, ports: ReportPorts) {
    this.id = id;
    this.#ports = ports;
  }

  get summary(): Summary {
    return { progress: this.#progress, entries: this.#entries, dropped: this.#beyond + this.#unstored };
  }

  log(level: EntryLevel, message: unknown, fields: unknown): void {
    if (this.#hasEnded) return;
    if (this.#isFull(level)) this.#beyond += 1;
    else if (this.#add(level, messageOf(message), fields)) return;
    else this.#unstored += 1;
    this.#ports.changed(this);
  }

  progress(given: unknown): void {
    const progress = this.#hasEnded ? null : progressOf(given);
    if (progress === null) return;
    this.#progress = { ...progress, at: this.#ports.clock.now() };
    this.#ports.changed(this);
    this.#isUnpublished = true;
    if (this.#timer === null) this.#publish();
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (this.#repeat !== null) clearTimeout(this.#repeat);
    if (this.#isUnpublished && this.#progress !== null) this.#ports.publish(this.#progress);
    if (this.#beyond > 0) this.#add('warn', droppedText(this.#beyond, OF_LIMITS), null);
    if (this.#unstored > 0) this.#add('warn', droppedText(this.#unstored, OF_MEMORY), null);
    const { entries, dropped, progress } = this.summary;
    if (entries > 0 || dropped > 0 || progress !== null) this.#ports.ended(this);
  }

  #isFull(level: EntryLevel): boolean {
    const share = level === 'debug' || level === 'info' ? SHARE_OF_LOW : 1;
    return this.#entries >= MOST_ENTRIES * share || this.#bytes >= MOST_BYTES * share;
  }

  #add(level: EntryLevel, message: string, given: unknown): boolean {
    const ports = this.#ports;
    const { fields, bytes: ofFields } = fieldsOf(given);
    const entry: LogEntry = { at: ports.clock.now(), level, message, fields };
    const bytes = Buffer.byteLength(message) + ofFields;
    if (!ports.store({ ...this.id, ...entry, number: ports.nextNumber() }, bytes)) return false;
    this.#entries += 1;
    this.#bytes += bytes;
    ports.debug(entry);
    ports.changed(this);
    return true;
  }

  /** Publishes the last progress now, and again when some time has passed and there is a newer one. */
  #publish(): void {
    this.#timer = null;
    if (!this.#isUnpublished || this.#progress === null) return;
    this.#isUnpublished = false;
    this.#ports.publish(this.#progress);
    this.#timer = setTimeout(() => this.#publish(), PUBLISH_MS).unref();
    if (this.#repeat !== null) clearTimeout(this.#repeat);
    this.#repeat = setTimeout(() => this.#publishAgain(), REPEAT_MS).unref();
  }

  #publishAgain(): void {
    if (!this.#isUnpublished && this.#progress !== null) this.#ports.publish(this.#progress);
  }
}

const OF_LIMITS = `a call may store ${MOST_ENTRIES} entries and ${MOST_BYTES / 1024} KB`;
const OF_MEMORY = 'the process could not store more in time';

function droppedText(count: number, why: string): string {
  return `… ${count} more ${count === 1 ? 'entry was' : 'entries were'} dropped: ${why}.`;
}
