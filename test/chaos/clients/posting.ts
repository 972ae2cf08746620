// Inputs: how they are generated, and posted until they are accepted or finally refused.
import type { Switches } from './actions.ts';
import type { Client } from './crowd.ts';
import { isOpen } from './requests.ts';
import { CONFIG } from './settings.ts';
import { plainScript, write, type Script } from './inputs.ts';
import type { Random } from '../random.ts';
import type { Posted } from '../world/world.ts';

/**
 * A branch or a message that is named may be deleted, or not be permanent yet; the tools of a new worker are unknown
 * while no worker process lives to publish them.
 */
const MAY_BE_GONE = { fine: [404, 422] };

const TOGETHER = 8;
/** The share of plain posts that start later. */
const DELAYED = 0.13;

export type Accepted = { jobId: string; messageId: string | null };

/** Null: refused, or given up. Of a retry `messageId` is null. */
export async function post({ ask, crowd }: Client, posted: Posted): Promise<Accepted | null> {
  crowd.inputs.push(posted);
  const names = posted.branch !== null || posted.revision !== null;
  const more = names || posted.isForNewWorker ? MAY_BE_GONE : {};
  const answer = await (posted.key === null
    ? ask.once('POST', postedTo(posted), bodyOf(posted))
    : ask.insist('POST', postedTo(posted), bodyOf(posted), posted.key, more));
  if (answer === null) return null;
  const at = performance.now();
  // Without a key it was not repeated.
  if (isOpen(answer) && answer.status !== 429) {
    posted.outcome = { kind: 'unknown' };
    return null;
  }
  if (answer.status !== (posted.isForNewWorker ? 201 : 202)) {
    posted.outcome = { kind: 'refused', code: codeIn(answer.body), at };
    return null;
  }
  const jobId = String(answer.body['job_id']);
  const messageId = stringIn(answer.body, 'message_id');
  const after = Number(new URL(String(answer.body['stream_url']), 'http://x').searchParams.get('after'));
  const branch = stringIn(answer.body, 'branch');
  if (posted.isForNewWorker) {
    posted.contextId = String(answer.body['context_id']);
    crowd.contexts.push(posted.contextId);
  }
  if (posted.delay !== null) posted.delay.answered = Date.now();
  posted.outcome = { kind: 'accepted', at, jobId, messageId, after, branch };
  crowd.acceptMs.push(at - posted.firstSentAt);
  return { jobId, messageId };
}

export function prepare(tag: string, random: Random, contexts: readonly string[], switches: Switches): Posted {
  const deliveries = [
    { delivery: 'queue' as const, weight: 80 },
    { delivery: 'reject' as const, weight: switches.reject ? 6 : 0 },
    { delivery: 'steer' as const, weight: switches.steer ? 8 : 0 },
    { delivery: 'interrupt' as const, weight: switches['deliver-interrupt'] ? 6 : 0 },
  ];
  const { delivery } = random.weighted(deliveries);
  const posted = toPost(
    tag,
    random.pick(contexts),
    write(tag, random, delivery === 'steer', switches.question, switches.spawn, switches.approve),
  );
  const priority = switches.priority && delivery === 'queue' && random.chance(0.2) ? random.between(1, 10) : 5;
  // A deadline is not before the start.
  const mayWait = switches.delay && delivery === 'queue' && posted.script.deadlineMs === null;
  return { ...posted, delivery, priority, delay: mayWait && random.chance(DELAYED) ? delayOf(random) : null };
}

/** A plain input that starts later. */
export function prepareDelayed(tag: string, random: Random, contexts: readonly string[]): Posted {
  return { ...toPost(tag, random.pick(contexts), plainScript(tag)), delay: delayOf(random) };
}

function delayOf(random: Random): Posted['delay'] {
  return { seconds: random.between(1, 5), sent: Date.now(), answered: null };
}

export function toPost(tag: string, contextId: string, script: Script): Posted {
  return {
    origin: 'client',
    tag,
    key: `key-${tag}`,
    contextId,
    isForNewWorker: false,
    delivery: 'queue',
    priority: 5,
    branch: null,
    revision: null,
    delay: null,
    webhook: null,
    script,
    firstSentAt: performance.now(),
    outcome: { kind: 'pending' },
    cancelled: false,
    edited: null,
    withdrawn: null,
    reordered: false,
  };
}

/** The input of a worker that is created with it. */
export function prepareNewWorker(tag: string, random: Random, switches: Switches): Posted {
  const { question, spawn, approve } = switches;
  return { ...toPost(tag, '', write(tag, random, false, question, spawn, approve)), isForNewWorker: true };
}

/** Sent once each, without a key, at the same time to different contexts. They end by themselves. */
export function prepareTogether(tag: string, random: Random, contexts: readonly string[]): Posted[] {
  const chosen = new Set(Array.from({ length: random.between(2, TOGETHER) }, () => random.pick(contexts)));
  return [...chosen].map((contextId, at) => {
    const own = `${tag}-${at + 1}`;
    return { ...toPost(own, contextId, write(own, random, true, false, false, false)), key: null };
  });
}

export function bodyOf(posted: Posted): object {
  const input = inputOf(posted);
  return posted.isForNewWorker ? { name: posted.tag, config: CONFIG, input } : input;
}

function inputOf({ tag, delivery, priority, branch, revision, delay, webhook, script }: Posted): object {
  return {
    ...(revision?.kind === 'regenerate' ? {} : { content: script.text }),
    ...(branch === null ? {} : { branch }),
    metadata: { tag },
    ...(delivery === 'queue' ? {} : { delivery }),
    ...(priority === 5 ? {} : { priority }),
    ...(delay === null ? {} : { after_s: delay.seconds }),
    ...(webhook === null ? {} : { webhook: { id: webhook } }),
    ...(script.maxSteps === null ? {} : { max_steps: script.maxSteps }),
    ...(script.deadlineMs === null ? {} : { deadline: new Date(Date.now() + script.deadlineMs).toISOString() }),
  };
}

/** The target: the context, or the message that it is to replace. */
export function postedTo(posted: Posted): string {
  const { revision } = posted;
  if (posted.isForNewWorker) return '/api/workers';
  return revision === null ? pathOf(posted) : `${pathOf(posted)}/${revision.messageId}/${revision.kind}`;
}

export function pathOf({ contextId }: Posted): string {
  return `/api/contexts/${contextId}/messages`;
}

function stringIn(body: Record<string, unknown>, name: string): string | null {
  const value = body[name];
  return typeof value === 'string' ? value : null;
}

function codeIn(body: Record<string, unknown>): string {
  const { error } = body;
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : 'unknown';
}
