// A client that posts an input with a question also answers it: by a plain input, by the endpoint for it, or by both
// ways at once. Others may come first: any plain input answers the oldest question of its context.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from './crowd.ts';
import { write } from './inputs.ts';
import { post, toPost, type Accepted } from './posting.ts';
import { isEnded, type Posted, type Reply } from '../world/world.ts';
import type { JobStatus } from '../../../src/core/run/job.ts';

/** Posts, and answers the questions that follow. The input of a retry may have been an answer: its job asks again. */
export async function postAttended(client: Client, posted: Posted): Promise<Accepted | null> {
  const accepted = await post(client, posted);
  const mayAsk = posted.script.shape === 'asking' || posted.revision !== null;
  if (accepted !== null && mayAsk) client.crowd.followUps.push(runInteractive(client, posted, accepted.jobId));
  return accepted;
}

/** A retry may turn out to answer an input that never ends by itself: it is not waited for any longer. */
const TIMEOUT_MS = 20_000;

/** Until the job has ended: it may ask more than once. */
async function runInteractive(client: Client, posted: Posted, jobId: string): Promise<void> {
  const { ask, random } = client;
  const { tag, contextId } = posted;
  const since = performance.now();
  for (let round = 1; ; round += 1) {
    if (posted.revision?.kind === 'regenerate' && performance.now() - since > TIMEOUT_MS && !posted.cancelled) {
      posted.cancelled = true;
      await ask.insist('POST', `/api/jobs/${jobId}/cancel`, { reason: 'chaos' }, `give-up-${tag}`);
    }
    const job = await ask.insist('GET', `/api/jobs/${jobId}?wait_ms=${random.between(200, 2_000)}`);
    if (job === null || isEnded(job.body['status'] as JobStatus)) return;
    const callId = awaitedIn(job.body);
    if (callId === null) continue;
    await sleep(random.between(0, 2_000));
    await answer(client, `${tag}-reply-${round}`, contextId, callId);
  }
}

/**
 * How the call was answered, if it was: a late answer is refused, and a late plain input is an input like any other.
 */
async function answer(client: Client, tag: string, contextId: string, callId: string): Promise<void> {
  const { random } = client;
  const roll = random.next();
  if (roll < 0.4) return void (await post(client, toPost(tag, contextId, write(tag, random, true, false))));
  await Promise.all(
    (roll < 0.7 ? ['a'] : ['a', 'b']).map(async (which) => reply(client, `${tag}-${which}`, contextId, callId)),
  );
}

async function reply({ ask, crowd }: Client, tag: string, contextId: string, callId: string): Promise<void> {
  const one: Reply = {
    contextId,
    callId,
    key: `key-${tag}`,
    content: `${tag} says so.`,
    outcome: { kind: 'pending' },
  };
  crowd.replies.push(one);
  const path = `/api/contexts/${contextId}/tools/${callId}/result`;
  const answered = await ask.insist('POST', path, { content: one.content }, one.key);
  if (answered === null) return;
  const { status, body } = answered;
  one.outcome =
    status === 202
      ? { kind: 'accepted', jobId: String(body['job_id']), messageId: String(body['message_id']) }
      : { kind: 'refused' };
}

function awaitedIn({ waiting_for: list }: Record<string, unknown>): string | null {
  const calls = Array.isArray(list) ? (list as { kind: string; tool_call_id?: string }[]) : [];
  return calls.find(({ kind }) => kind === 'input')?.tool_call_id ?? null;
}
