/**
 * Carries out what the ends of jobs leave for other contexts: at once where this process heard of one, and with every
 * sweep, for whoever died before it could. Every process may, two at a time do no harm.
 */
import type { Logger } from 'pino';
import pTimeout from 'p-timeout';
import { errandsDue } from '../bus/bus.ts';
import { cascade } from '../commands/cascade.ts';
import { inLanes } from '../commands/lanes.ts';
import { perform } from '../commands/perform.ts';
import type { CommandPorts } from '../commands/ports.ts';
import { sendParentNotice } from '../commands/send-parent-notice.ts';
import type { PeerLimits } from '../core/peer-limits.ts';
import { dueErrands } from '../db/errands.ts';
import type { Errand } from '../db/errands.ts';
import type { LeaseTimes } from '../db/processes.ts';

/** Of each kind, at a time. */
const MOST = 100;
/** On the way out an errand that takes longer is left to others, in milliseconds. */
const ENDING_MS = 1_000;

/** Nobody answers a call here. */
type ErrandPorts = Omit<CommandPorts, 'boundResult'>;

type Ports = Omit<ErrandPorts, 'times' | 'stopGraceMs'> & {
  times: LeaseTimes & { stopGraceMs: number };
  peers: PeerLimits;
  log: Pick<Logger, 'warn'>;
};

export class Errands {
  readonly #ports: Ports;
  #running: Promise<void> | null = null;
  #again = false;
  #stopped = false;
  #deaf: () => void = () => undefined;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  async start(): Promise<void> {
    this.#deaf = await this.#ports.bus.subscribe(errandsDue(), () => this.look());
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#deaf();
    const running = this.#running;
    if (running !== null) await pTimeout(running, { milliseconds: ENDING_MS }).catch(() => undefined);
  }

  /** Soon. Does not throw; what fails is tried again by the next sweep. */
  look(): void {
    if (this.#stopped) return;
    this.#again = true;
    this.#running ??= this.#carryOut().finally(() => {
      this.#running = null;
      if (this.#again) this.look();
    });
  }

  async #carryOut(): Promise<void> {
    while (this.#again && !this.#stopped) {
      this.#again = false;
      const isMore = await carryOutErrands(this.#ports).catch((error: unknown) => {
        this.#ports.log.warn({ err: error }, 'errands could not be carried out');
        return false;
      });
      if (isMore) this.#again = true;
    }
  }
}

/** One look at all that is due. True: there may be more. */
export async function carryOutErrands(ports: Ports): Promise<boolean> {
  const { times, peers } = ports;
  const errands = await dueErrands(ports.database.db, MOST, peers.queuedInputs);
  const commands = { ...ports, stopGraceMs: times.stopGraceMs };
  await inLanes(errands, (errand) => carryOut(commands, errand, peers.queuedInputs));
  return errands.length >= MOST;
}

async function carryOut(ports: ErrandPorts, errand: Errand, queueLimit: number): Promise<void> {
  switch (errand.kind) {
    case 'cascade':
      return cascade(ports, errand);
    case 'parent_notice':
      await perform(ports, sendParentNotice(ports, errand, queueLimit));
  }
}
