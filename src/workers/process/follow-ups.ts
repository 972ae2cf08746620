/**
 * Carries out follow-ups: what the end of a job requires in other contexts. Runs when this process is notified, and
 * with every sweep, because the process that ended the job may have died. Any process may do it; two at the same time
 * do no harm.
 */
import type { Logger } from 'pino';
import pTimeout from 'p-timeout';
import { followUpsDue } from '../../bus/bus.ts';
import { cascade } from '../../commands/jobs/cascade.ts';
import { perform } from '../../commands/perform.ts';
import { mapConcurrent } from '../../commands/map-concurrent.ts';
import type { CommandPorts } from '../../commands/ports.ts';
import { sendParentNotice } from '../../commands/jobs/send-parent-notice.ts';
import type { PeerLimits } from '../../core/workers/peer-limits.ts';
import { dueFollowUps, type FollowUp } from '../../db/run/follow-ups/follow-ups.ts';
import type { LeaseTimes } from '../../db/processes/processes.ts';

/** Follow-ups of each kind per query. */
const MOST = 100;
/** How long `stop` waits for a running follow-up, in milliseconds. Other processes carry out what takes longer. */
const ENDING_MS = 1_000;

/** Follow-ups answer no tool calls. */
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
  #unsubscribe: () => void = () => undefined;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  async start(): Promise<void> {
    this.#unsubscribe = await this.#ports.bus.subscribe(followUpsDue(), () => this.look());
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#unsubscribe();
    const running = this.#running;
    if (running !== null) await pTimeout(running, { milliseconds: ENDING_MS }).catch(() => undefined);
  }

  /** Starts a pass soon. Does not throw: the next sweep retries what failed. */
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
        this.#ports.log.warn({ err: error }, 'could not carry out follow-ups');
        return false;
      });
      if (isMore) this.#again = true;
    }
  }
}

/** Carries out the follow-ups that are due now. True: there may be more. */
export async function runFollowUps(ports: Ports): Promise<boolean> {
  const { times, peers } = ports;
  const followUps = await dueFollowUps(ports.database.db, MOST, peers.queuedInputs);
  const commands = { ...ports, stopGraceMs: times.stopGraceMs };
  await mapConcurrent(followUps, async (followUp) => {
    try {
      await carryOut(commands, followUp, peers.queuedInputs);
    } catch (error) {
      ports.log.warn({ err: error, job_id: followUp.jobId }, 'could not carry out a follow-up');
      throw error;
    }
  });
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
