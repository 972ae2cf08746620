/**
 * Carries out what the ends of jobs leave for other contexts: at once where this process heard of one, and with every
 * sweep, for whoever died before it could. Every process may, two at a time do no harm.
 */
import type { Logger } from 'pino';
import pTimeout from 'p-timeout';
import { followUpsDue } from '../bus/bus.ts';
import { cascade } from '../commands/cascade.ts';
import { mapConcurrent } from '../commands/map-concurrent.ts';
import { perform } from '../commands/perform.ts';
import type { CommandPorts } from '../commands/ports.ts';
import { sendParentNotice } from '../commands/send-parent-notice.ts';
import type { PeerLimits } from '../core/peer-limits.ts';
import { dueFollowUps } from '../db/follow-ups.ts';
import type { FollowUp } from '../db/follow-ups.ts';
import type { LeaseTimes } from '../db/processes.ts';

/** Of each kind, at a time. */
const MOST = 100;
/** On the way out an errand that takes longer is left to others, in milliseconds. */
const ENDING_MS = 1_000;

/** Nobody answers a call here. */
type FollowUpPorts = Omit<CommandPorts, 'boundResult'>;

type Ports = Omit<FollowUpPorts, 'times' | 'stopGraceMs'> & {
  times: LeaseTimes & { stopGraceMs: number };
  peers: PeerLimits;
  log: Pick<Logger, 'warn'>;
};

export class FollowUps {
  readonly #ports: Ports;
  #running: Promise<void> | null = null;
  #again = false;
  #stopped = false;
  #deaf: () => void = () => undefined;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  async start(): Promise<void> {
    this.#deaf = await this.#ports.bus.subscribe(followUpsDue(), () => this.look());
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
      const isMore = await runFollowUps(this.#ports).catch((error: unknown) => {
        this.#ports.log.warn({ err: error }, 'errands could not be carried out');
        return false;
      });
      if (isMore) this.#again = true;
    }
  }
}

/** One look at all that is due. True: there may be more. */
export async function runFollowUps(ports: Ports): Promise<boolean> {
  const { times, peers } = ports;
  const followUps = await dueFollowUps(ports.database.db, MOST, peers.queuedInputs);
  const commands = { ...ports, stopGraceMs: times.stopGraceMs };
  await mapConcurrent(followUps, (followUp) => carryOut(commands, followUp, peers.queuedInputs));
  return followUps.length >= MOST;
}

async function carryOut(ports: FollowUpPorts, followUp: FollowUp, queueLimit: number): Promise<void> {
  switch (followUp.kind) {
    case 'cascade':
      return cascade(ports, followUp);
    case 'parent_notice':
      await perform(ports, sendParentNotice(ports, followUp, queueLimit));
  }
}
