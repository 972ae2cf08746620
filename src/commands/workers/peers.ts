/**
 * Tool calls by which workers of one tree message, list and stop each other. They are bounded, so that two workers
 * cannot answer each other forever. A call that is repeated finds what it did before.
 */
import type { TraceParent } from '../../core/tracing/trace-parent.ts';
import { limitsOf } from '../../core/access/quotas.ts';
import { refuse, type Refusal } from '../../core/errors.ts';
import {
  parseId,
  type ContextId,
  type JobId,
  type MessageId,
  type TenantId,
  type ToolCallId,
  type WorkerId,
} from '../../core/ids.ts';
import type { JsonObject } from '../../core/json.ts';
import type { PeerLimits } from '../../core/workers/peer-limits.ts';
import { passedOnTooOften, sentMessage } from '../../core/workers/peer-messages.ts';
import { errorCode } from '../../db/connection/database-errors.ts';
import type { Executor } from '../../db/connection/client.ts';
import {
  findPeer,
  findSelf,
  lockSender,
  sendingJob,
  sentBy,
  sentLately,
  type Found,
  type Self,
} from '../../db/write/workers/peers.ts';
import { workerTree } from '../../db/read/contexts/worker-tree.ts';
import { stopBelow } from '../jobs/cascade.ts';
import { PLAIN_JOB, enqueue } from '../inputs/enqueue.ts';
import { done, perform, type Command } from '../perform.ts';
import { whyFull } from '../tenants/within-quota.ts';
import type { CommandPorts } from '../ports.ts';
import { stopWorker } from './stop-worker.ts';

const UNIQUE_VIOLATION = '23505';

/** Workers in a list at most. */
const LISTED = 200;

/** The tool call that makes the request. */
export type Sender = {
  tenantId: TenantId;
  contextId: ContextId;
  jobId: JobId;
  toolCallId: ToolCallId;
  /** The place of the call in a trace. */
  traceParent: TraceParent | null;
};

type Answered = { kind: 'done'; value: JsonObject } | Refusal;

export function createPeers(ports: CommandPorts, limits: PeerLimits) {
  const { db } = ports.database;

  /** `work` gets the calling worker and the worker that it names. */
  const about = async (
    sender: Sender,
    id: string,
    work: (self: Self, peer: Found & { id: WorkerId }) => Promise<Answered>,
  ): Promise<Answered> => {
    const self = await findSelf(db, sender);
    if (self === null) return GONE;
    const peerId = parseId<WorkerId>(id);
    const peer = peerId === null ? null : await findPeer(db, self, peerId);
    if (peerId === null || peer === null) {
      return refuse('not_found', `No other worker in your tree has the id ${id}.`, 'worker_id');
    }
    return work(self, { ...peer, id: peerId });
  };

  return {
    send: (sender: Sender, to: string, content: string): Promise<Answered> =>
      about(sender, to, async (self, peer) => {
        const command = sendMessage(ports, limits, { sender, self, peer, content });
        // A process that was declared dead may make the same call at the same time. The second try finds what it sent.
        const outcome = await perform(ports, command).catch((error: unknown) => {
          if (errorCode(error) === UNIQUE_VIOLATION) return perform(ports, command);
          throw error;
        });
        return outcome.kind === 'refused' ? outcome : { kind: 'done', value: { job_id: outcome.value.jobId } };
      }),

    async list(sender: Sender): Promise<Answered> {
      const self = await findSelf(db, sender);
      if (self === null) return GONE;
      const [, ...below] = await workerTree(db, self.tenantId, self.id, LISTED + 2);
      const workers = below.slice(0, LISTED).map(({ id, name, parentWorkerId, state, job }) => ({
        worker_id: id,
        name,
        parent_worker_id: parentWorkerId,
        state,
        job: job === null ? null : { job_id: job.id, status: job.status },
      }));
      const you = { worker_id: self.id, name: self.name, parent_worker_id: self.parentWorkerId };
      return { kind: 'done', value: { you, workers, truncated: below.length > LISTED } };
    },

    stop: (sender: Sender, workerId: string): Promise<Answered> =>
      about(sender, workerId, async ({ tenantId }, peer) => {
        if (!peer.isBelow) {
          return refuse('forbidden', 'You can stop only workers below you.', 'worker_id');
        }
        const how = {
          reason: 'a worker above it stopped it',
          by: null,
          may: async () => true,
          asked: 'cancel',
        } as const;
        const { contextId } = peer;
        const outcome = await perform(ports, stopWorker(ports, { tenantId, contextId }, how));
        if (outcome.kind === 'refused') return outcome;
        await stopBelow(ports, tenantId, peer.id, null);
        return { kind: 'done', value: { worker_id: peer.id, state: 'stopped' } };
      }),
  };
}

const GONE = refuse('not_found', 'This worker is being deleted.');

type SentMessage = { sender: Sender; self: Self; peer: Found; content: string };

/**
 * A job sent to a worker below is cancelled with the job that sends it, and its end is reported to the sender. Refused:
 * `worker_stopped`, `quota_exceeded`, `queue_full`, `worker_limit` (too many hops), `rate_limited`, `context_busy` (the
 * sending job is ending).
 */
function sendMessage(
  { ids }: Pick<CommandPorts, 'ids'>,
  limits: PeerLimits,
  { sender, self, peer, content }: SentMessage,
): Command<{ jobId: JobId }> {
  return async (tx) => {
    const { tenantId, jobId: senderJob, toolCallId, traceParent } = sender;
    const before = await sentBy(tx, tenantId, toolCallId);
    if (before !== null) return done({ jobId: before });
    const jobId = ids.next<JobId>();
    const { hops, user, limits: own } = await sendingJob(tx, tenantId, senderJob);
    const input = { messageId: ids.next<MessageId>(), content: sentMessage(self, content) };
    const { contextId } = peer;
    const full = await whyFull(tx, { tenantId, limits: limitsOf(own, limits.tenantLimits) }, { queuedJobs: 1 });
    const { queuedInputs: queueLimit } = limits;
    const submission = { ...PLAIN_JOB, tenantId, contextId, jobId, input, queueLimit, full, traceParent };
    const asker = {
      workerId: self.id,
      hops: hops + 1,
      parentJobId: peer.isBelow ? senderJob : null,
      user,
      toolCallId,
      notifyParent: peer.isBelow,
      noticeOfJobId: null,
    };
    const enqueued = await enqueue(tx, submission, asker);
    if (enqueued.kind === 'refused') return enqueued;
    return (await mayNot(tx, limits, sender)) ?? done({ jobId }, ...enqueued.wakeUps);
  };
}

/** Checked last, so that the sending job is locked as briefly as possible. A refusal rolls back what was sent. */
async function mayNot(
  tx: Executor,
  { hops: most, messagesPerMinute }: PeerLimits,
  { tenantId, contextId, jobId }: Sender,
): Promise<Refusal | null> {
  const sender = await lockSender(tx, tenantId, contextId, jobId);
  if (sender === null) return refuse('context_busy', 'The sending job is ending.');
  if (sender.hops + 1 > most) {
    return refuse('worker_limit', passedOnTooOften(sender.hops, most));
  }
  // Includes the message that was just sent.
  const sent = await sentLately(tx, tenantId, contextId);
  if (sent > messagesPerMinute) {
    return refuse('rate_limited', `You can send ${messagesPerMinute} messages per minute. Wait before you send more.`);
  }
  return null;
}
