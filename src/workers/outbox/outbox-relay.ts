/**
 * Relays the outbox of a service to the submissions of the installation. Every worker process looks about once a second,
 * and when a service announces submissions; one of them has the rows at a time. A database that is away holds up nothing
 * else: the relay tries again, less and less often.
 */
import { submissionsDue } from '../../bus/bus.ts';
import type { OutboxId } from '../../core/ids.ts';
import type { NamedOutbox } from '../../core/submissions/outbox.ts';
import type { Database } from '../../db/connection/client.ts';
import { LOCKED, errorCode, refusalText } from '../../db/connection/database-errors.ts';
import { readRights } from '../../db/outbox/outbox-rights.ts';
import { findRows, readAbout } from '../../db/outbox/outbox-rows.ts';
import { readBacklog } from '../../db/outbox/outbox-state.ts';
import { inactiveAmong } from '../../db/submissions/relayed.ts';
import { findReceipts, keepReceipts, removeReceipts } from '../../db/submissions/receipts.ts';
import type { WorkerState } from '../process/ports.ts';
import { Looks, type Pause } from '../scheduling/looks.ts';
import { relayBatch } from './relay-batch.ts';
import { Unfit, checkVersion } from './unfit.ts';

/** Time between two looks, in milliseconds, a quarter more or less. */
const LOOK_MS = 1_000;
/** The longest time between two looks after errors, in milliseconds. */
const AWAY_MS = 30_000;
/** Time between two counts of the backlog and of receipts that were left over, in milliseconds. */
const COUNT_MS = 15_000;
/** Receipts that one look compares with the outbox. */
const RECEIPTS = 1_000;
/** Before all positions. */
const FIRST = 0;
/** How long a batch may take after the relay was told to stop, in seconds. */
const CLOSING_S = 2;

type State = Pick<WorkerState, 'database' | 'bus' | 'log' | 'metrics' | 'random'>;

export class OutboxRelay {
  readonly #state: State;
  readonly #settings: NamedOutbox;
  readonly #outbox: Database;
  readonly #lookMs: number;
  readonly #looks: Looks;
  /** Known while there are no errors. */
  #id: OutboxId | null = null;
  #countAt = 0;
  /** The position of the last receipt that was compared with the outbox. */
  #receiptsAfter = FIRST;
  /** Looks in a row that failed, and the code of the last error. */
  #failed = { times: 0, code: '' };

  constructor(state: State, settings: NamedOutbox, outbox: Database, lookMs = LOOK_MS) {
    this.#state = state;
    this.#settings = settings;
    this.#outbox = outbox;
    this.#lookMs = lookMs;
    this.#looks = new Looks(state.bus, () => this.#lookOnce());
  }

  subscribe(): Promise<void> {
    return this.#looks.subscribe();
  }

  start(): void {
    this.#looks.start();
  }

  /** Resolves after the current batch, or when its time is over. */
  async stop(): Promise<void> {
    await Promise.all([this.#looks.stop(), this.#outbox.close(CLOSING_S)]);
  }

  async #lookOnce(): Promise<Pause> {
    try {
      return { ms: this.#succeed(await this.#look()), isFirm: false };
    } catch (error) {
      return { ms: this.#fail(error), isFirm: true };
    }
  }

  /** Whether there may be more rows. */
  async #look(): Promise<boolean> {
    const { database, bus, log, metrics } = this.#state;
    const { name } = this.#settings;
    this.#id ??= await this.#begin();
    const ports = { database, outbox: this.#outbox, settings: this.#settings, id: this.#id };
    const { relayed, refused } = await relayBatch(ports);
    if (relayed.length > 0) bus.publish(submissionsDue(), {});
    metrics.outbox.relayed(name, relayed.length);
    for (const { jobId, tenant, code } of refused) {
      metrics.outbox.refused(name, code);
      log.warn({ outbox: name, job_id: jobId, tenant, code }, 'a row of an outbox became no submission');
    }
    const isMore = relayed.length + refused.length > 0;
    if (performance.now() >= this.#countAt) await this.#count(this.#id);
    return isMore;
  }

  /** After the start and after an error. */
  async #begin(): Promise<OutboxId> {
    const { db } = this.#outbox;
    const rights = await readRights(db, this.#settings.schema);
    if (rights === 'none' || rights === 'read') throw new Unfit('not_granted');
    const about = rights === 'absent' ? null : await readAbout(db);
    if (about === null) throw new Unfit('not_installed');
    checkVersion(about);
    return about.id;
  }

  async #count(id: OutboxId): Promise<void> {
    const { name, tenants } = this.#settings;
    const held = await inactiveAmong(this.#state.database.db, tenants);
    this.#state.metrics.outbox.backlog(name, await readBacklog(this.#outbox.db, held));
    await this.#checkReceipts(id);
    this.#countAt = performance.now() + COUNT_MS;
  }

  /** Removes those of rows that were deleted, and whose process died then. The next ones in their order. */
  async #checkReceipts(id: OutboxId): Promise<void> {
    const { db } = this.#state.database;
    const receipts = await findReceipts(db, id, { after: this.#receiptsAfter, most: RECEIPTS });
    this.#receiptsAfter = receipts.length < RECEIPTS ? FIRST : (receipts.at(-1) ?? FIRST);
    if (receipts.length === 0) return;
    const there = new Set(await findRows(this.#outbox.db, receipts));
    const gone = receipts.filter((position) => !there.has(position));
    if (gone.length > 0) await removeReceipts(db, id, gone);
    if (there.size > 0) await keepReceipts(db, id, [...there]);
  }

  #succeed(isMore: boolean): number {
    const { log, metrics, random } = this.#state;
    const { name } = this.#settings;
    if (this.#failed.times > 0) log.info({ outbox: name }, 'the outbox is relayed again');
    this.#failed = { times: 0, code: '' };
    metrics.outbox.up(name, true);
    return isMore ? 0 : this.#lookMs * (0.75 + random() / 2);
  }

  #fail(error: unknown): number {
    const { log, metrics, random } = this.#state;
    const { name } = this.#settings;
    if (this.#looks.isStopping) return 0;
    const code = errorCode(error);
    // Once for each reason. An error may quote the content of submissions, so only its code is logged.
    if (this.#failed.times === 0 || this.#failed.code !== code)
      log.warn({ outbox: name, code, reason: reasonOf(error, code) }, 'could not relay an outbox');
    this.#failed = { times: this.#failed.times + 1, code };
    this.#id = null;
    metrics.outbox.up(name, false);
    return Math.min(this.#lookMs * 2 ** this.#failed.times, AWAY_MS) * (0.75 + random() / 2);
  }
}

const ADVICE: Readonly<Record<string, string>> = {
  not_installed: 'The database has no outbox in this schema. Run `nightshift outbox install`.',
  not_granted: 'The login may not relay this outbox. Run `nightshift outbox install … --relay <login>`.',
  [LOCKED]: 'Transactions of the service have it locked.',
  replaced: 'It was removed and installed again.',
  tenant_inactive: 'A tenant of its rows has just been suspended or deleted. Its rows wait from now on.',
  older_version: 'The outbox has an older version. Run `nightshift outbox install`.',
  newer_version: 'A newer version of Nightshift has made the outbox. Upgrade the worker processes.',
};

/** Without a code it is an unexpected error: its name. */
function reasonOf(error: unknown, code: string): string | undefined {
  return refusalText(error) ?? ADVICE[code] ?? (code === '' && error instanceof Error ? error.name : undefined);
}
