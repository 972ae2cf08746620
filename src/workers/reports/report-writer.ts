/**
 * Stores what the tools of this process report: one statement at a time, about once a second while calls run, and soon
 * after a call has ended. Without reports there is neither a timer nor a statement. No tool and no run waits for it.
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
  #writing: Promise<void> | null = null;

  constructor(db: Executor, log: Logger) {
    this.#db = db;
    this.#log = log;
  }

  /** False: too much waits already. */
  add(entry: StoredEntry, bytes: number): boolean {
    if (this.#bytes >= MOST_WAITING_BYTES) return false;
    this.#entries.push({ entry, bytes: bytes + ENTRY_BYTES });
    this.#bytes += bytes + ENTRY_BYTES;
    this.#writeLater();
    return true;
  }

  changed(report: CallReport): void {
    this.#changed.add(report);
    this.#writeLater();
  }

  /** Stores what waits without waiting for the next time. */
  writeSoon(): void {
    void this.#write();
  }

  /** Stores what still waits. Call it once no tool runs any more. */
  async stop(): Promise<void> {
    await pTimeout(this.#write(), { milliseconds: LAST_MS }).catch(() => undefined);
    this.#hush();
  }

  #writeLater(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      void this.#write();
    }, EVERY_MS).unref();
  }

  #hush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** Never rejects. Joins the writing that is under way, which takes what was added meanwhile. */
  #write(): Promise<void> {
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = null;
    });
    return this.#writing;
  }

  async #writeAll(): Promise<void> {
    this.#hush();
    while (this.#entries.length > 0 || this.#changed.size > 0) {
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
          return this.#writeLater();
        }
        this.#log.warn({ err: error, entries: entries.length }, 'could not store what tools reported; it is dropped');
      }
      this.#entries = this.#entries.slice(entries.length);
      this.#bytes -= entries.reduce((sum, { bytes }) => sum + bytes, 0);
    }
  }

  #toStored(report: CallReport): StoredReport {
    const version = (this.#versions.get(report) ?? 0) + 1;
    this.#versions.set(report, version);
    return { ...report.id, ...report.summary, version };
  }
}
