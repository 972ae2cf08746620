/**
 * Makes deliveries from the outbox and sends them, beside the runs: a receiver that does not answer takes no slot of a
 * context. Every worker process looks about once a second, and at once after an append that webhooks may want. What it
 * sends at a time is limited in total and for each tenant; backoff.ts limits it for each webhook.
 */
import { setTimeout } from 'node:timers/promises';
import pTimeout from 'p-timeout';
import type { ProcessId, TenantId } from '../../core/ids.ts';
import { findWork } from '../../db/webhooks/outbox.ts';
import { unlease } from '../../db/webhooks/attempts.ts';
import { leaseDue, type Leased, type Sending } from '../../db/webhooks/sending.ts';
import type { WorkerPorts, WorkerState } from '../process/ports.ts';
import { Rounds } from '../process/rounds.ts';
import { makeSome } from './make.ts';
import { sendBatch } from './send-batch.ts';

const LOOK_MS = 1_000;
/** Webhooks that a process sends to at once. */
const MOST = 32;
/** Those of one tenant. */
const MOST_OF_TENANT = 8;
/** How long attempts have to end when the process drains, in milliseconds. Then other processes send them again. */
const ENDING_MS = 1_500;

type Ports = Pick<WorkerPorts, 'database' | 'wakeQueue' | 'bus' | 'ids' | 'log' | 'random' | 'webhooks'> &
  Pick<WorkerState, 'identity'>;

export class WebhookSender {
  readonly #ports: Ports;
  readonly #rounds: Rounds;
  readonly #sending = new Map<Promise<void>, TenantId>();
  readonly #stopping = new AbortController();
  #looking: Promise<void> | null = null;
  #again = false;
  #stopped = false;
  #hasWarned = false;

  constructor(ports: Ports) {
    this.#ports = ports;
    this.#rounds = new Rounds(LOOK_MS, ports.random, async () => this.look());
  }

  start(): void {
    this.#rounds.start();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#rounds.stop();
    await this.#looking;
    const ending = Promise.all(this.#sending.keys());
    await pTimeout(ending, { milliseconds: ENDING_MS }).catch(() => this.#stopping.abort());
    await Promise.all(this.#sending.keys());
    const owner = this.#ports.identity();
    if (owner !== null) await unlease(this.#ports.database.db, owner).catch(() => undefined);
  }

  /** Looks for work soon. Does not throw. */
  look(): void {
    if (this.#stopped) return;
    this.#again = true;
    this.#looking ??= this.#work().finally(() => {
      this.#looking = null;
      if (this.#again) this.look();
    });
  }

  async #work(): Promise<void> {
    // What comes in the same turn is one piece of work.
    await setTimeout(0);
    this.#again = false;
    const { database, log } = this.#ports;
    const warn = (message: string) => (error: unknown) => log.warn({ err: error }, message);
    const work = await findWork(database.db).catch(warn('could not look for webhooks to send to'));
    if (work === undefined) return;
    // What cannot be made must not keep from sending what is.
    if (work.outbox) await this.#makeDeliveries().catch(warn('could not make webhook deliveries'));
    if (work.outbox || work.due) await this.#send().catch(warn('could not send webhooks'));
  }

  async #makeDeliveries(): Promise<void> {
    if (await makeSome(this.#ports, () => this.#stopped)) this.#again = true;
  }

  async #send(): Promise<void> {
    const { webhooks, database, log } = this.#ports;
    const owner = this.#ports.identity();
    const { secretBox, receivers } = webhooks;
    if (secretBox === null) {
      if (!this.#hasWarned) log.warn('this process cannot send webhooks: NIGHTSHIFT_SECRET_KEY is not set');
      this.#hasWarned = true;
      return;
    }
    const free = MOST - this.#sending.size;
    if (free <= 0 || owner === null || this.#stopped) return;
    const request = { owner, most: free, perTenant: MOST_OF_TENANT, sending: this.#counts() };
    const ports = { ...this.#ports, secretBox, receivers };
    for (const webhook of await leaseDue(database.db, request)) this.#begin(webhook, owner, ports);
  }

  #begin(webhook: Leased, owner: ProcessId, ports: Parameters<typeof sendBatch>[0]): void {
    const sending = sendBatch(ports, webhook, owner, this.#stopping.signal)
      .catch((error: unknown) => {
        if (this.#stopping.signal.aborted) return;
        ports.log.warn({ err: error, webhook_id: webhook.id }, 'could not store how webhook deliveries went');
      })
      .finally(() => {
        this.#sending.delete(sending);
        this.look();
      });
    this.#sending.set(sending, webhook.tenantId);
  }

  #counts(): Sending[] {
    const counts = new Map<TenantId, number>();
    for (const tenantId of this.#sending.values()) counts.set(tenantId, (counts.get(tenantId) ?? 0) + 1);
    return [...counts].map(([tenantId, count]) => ({ tenantId, count }));
  }
}
