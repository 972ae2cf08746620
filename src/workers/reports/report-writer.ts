/**
 * Stores what the tools of this process report: one statement at a time, about once a second while calls run, and soon
 * after a call has ended. More follow at once only while more waits than one statement takes. Without reports there is
 * neither a timer nor a statement. No tool and no run waits for it.
 *
 * If PostgreSQL is unavailable, reports stay in memory, up to a limit, and are sent again: the statement may be repeated.
 */
import type { Logger } from 'pino';
import pTimeout from 'p-timeout';
import type { Executor } from '../../db/connection/client.ts';
import { storeReports, type StoredEntry, type StoredReport } from '../../db/calls/tool-reports.ts';
import { isAway } from '../../db/batches/database-timeout.ts';
import type { CallReport } from './call-report.ts';

const EVERY_MS = 1_000;

/** After a call has ended, in milliseconds: one statement stores what calls report that end at about the same time. */
const SOON_MS = 50;

/** Entries and reports of one statement. */
const AT_ONCE = 500;

/** Bytes of entries that wait in memory, of all calls together. */
const MOST_WAITING_BYTES = 16 * 1024 * 1024;

/** What an entry needs in memory beside its texts, in bytes, roughly. */
const ENTRY_BYTES = 500;

/** How long the rest may take when the process stops, in milliseconds. */
const LAST_MS = 2_000;

type Waiting = { entry: StoredEntry; bytes: number };

export class ReportWriter {
  readonly #db: Executor;
  readonly #log: Logger;
  #entries: Waiting[] = [];
  #bytes = 0;
  readonly #changed = new Set<CallReport>();
  /** How often each report was stored. */
  readonly #versions = new WeakMap<CallReport, number>();
  #timer: NodeJS.Timeout | null = null;
  /** A call has ended since the last writing began. */
  #isSoon = false;
  #stopped = false;
  #writing: Promise<void> | null = null;

  constructor(db: Executor, log: Logger) {
    this.#db = db;
    this.#log = log;
  }

  /** False: too much waits already, or it has stopped. */
  add(entry: StoredEntry, bytes: number): boolean {
    if (this.#stopped || this.#bytes >= MOST_WAITING_BYTES) return false;
    this.#entries.push({ entry, bytes: bytes + ENTRY_BYTES });
    this.#bytes += bytes + ENTRY_BYTES;
    this.#writeLater();
    return true;
  }

  changed(report: CallReport): void {
    if (this.#stopped) return;
    this.#changed.add(report);
    this.#writeLater();
  }

  /** A call has ended: stores what waits without waiting for the next second. */
  writeSoon(): void {
    if (this.#isSoon || !this.#isWaiting) return;
    this.#isSoon = true;
    this.#hush();
    this.#writeLater();
  }

  /** Stores what still waits, and drops what it cannot store. Call it once no tool runs any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#hush();
    await pTimeout(this.#writeRest(), { milliseconds: LAST_MS }).catch(() => undefined);
    const [entries, reports] = [this.#entries.length, this.#changed.size];
    this.#entries = [];
    this.#changed.clear();
    if (entries + reports === 0) return;
    this.#log.warn({ entries, reports }, 'stopped before all that tools reported was stored; the rest is dropped');
  }

  /** Only one timer runs. While a statement is under way none does: the next one is planned after it. */
  #writeLater(): void {
    if (this.#stopped || this.#writing !== null) return;
    this.#timer ??= setTimeout(() => void this.#write(), this.#isSoon ? SOON_MS : EVERY_MS).unref();
  }

  #hush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** What is being written, and then what is left. */
  async #writeRest(): Promise<void> {
    await this.#writing;
    await this.#write();
  }

  /** Never rejects. */
  #write(): Promise<void> {
    this.#writing ??= this.#writeWaiting().finally(() => {
      this.#writing = null;
      if (this.#isWaiting) this.#writeLater();
      else this.#isSoon = false;
    });
    return this.#writing;
  }

  get #isWaiting(): boolean {
    return this.#entries.length > 0 || this.#changed.size > 0;
  }

  /** Stores what waits now. What is added meanwhile waits for the next time, unless it fills a statement. */
  async #writeWaiting(): Promise<void> {
    this.#hush();
    this.#isSoon = false;
    let most = Math.max(this.#entries.length, this.#changed.size);
    for (; this.#isWaiting && (most > 0 || this.#fillsStatement); most -= AT_ONCE) {
      if (await this.#writeOnce()) continue;
      this.#isSoon = false;
      return;
    }
  }

  get #fillsStatement(): boolean {
    return this.#entries.length >= AT_ONCE || this.#changed.size >= AT_ONCE;
  }

  /** False: PostgreSQL is unavailable. */
  async #writeOnce(): Promise<boolean> {
    const entries = this.#entries.slice(0, AT_ONCE);
    const reports = [...this.#changed].slice(0, AT_ONCE);
    for (const report of reports) this.#changed.delete(report);
    try {
      await storeReports(
        this.#db,
        entries.map(({ entry }) => entry),
        reports.map((report) => this.#toStored(report)),
      );
    } catch (error) {
      if (isAway(error)) {
        for (const report of reports) this.#changed.add(report);
        return false;
      }
      this.#log.warn({ err: error, entries: entries.length }, 'could not store what tools reported; it is dropped');
    }
    this.#entries = this.#entries.slice(entries.length);
    this.#bytes -= entries.reduce((sum, { bytes }) => sum + bytes, 0);
    return true;
  }

  #toStored(report: CallReport): StoredReport {
    const version = (this.#versions.get(report) ?? 0) + 1;
    this.#versions.set(report, version);
    return { ...report.id, ...report.summary, version };
  }
}
