/**
 * The users of a soak, in a separate process. They keep a pool of contexts, post inputs at a fixed rate, wait for the
 * jobs, sometimes cancel, interrupt and steer, and replace a context after some inputs.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { exchange } from '../load/exchange.ts';
import type { Answer, Request } from '../load/protocol.ts';
import { answerQuestions, monotonic } from '../talk.ts';
import { follow, openStreams } from './followers.ts';
import { did, take, took, trouble } from './ledger.ts';
import type { Account, Crowd, UsersProtocol } from './protocol.ts';

/** The number of inputs before a context is deleted. */
const FEWEST = 6;
const MOST = 18;
/** The share of contexts that are deleted while their last job runs. */
const RASH = 0.2;
const POLL_MS = 30_000;
/** The maximum delay between an input and its cancel, interrupt or steer. */
const REGRET_MS = 600;
const AGAIN_MS = 1_000;

type Member = { id: string; left: number };

const pool: Member[] = [];
const present = new Set<string>();
const underWay = new Set<Promise<void>>();
const leaving = new AbortController();
let crowd: Crowd = { url: '', newContext: {}, contexts: 0, rate: 1, followers: 0 };
let keys = 0;

function ask(method: Request['method'], path: string, body: object | null, key?: string): Promise<Answer> {
  return exchange(crowd.url, { method, path, body, ...(key === undefined ? {} : { key }) });
}

/** Repeats a request after 503 or a missing response, whose outcome is unknown. */
async function insist(...request: Parameters<typeof ask>): Promise<Answer> {
  for (;;) {
    const answer = await ask(...request).catch(() => null);
    if (answer !== null && answer.status !== 503) return answer;
    did(answer === null ? 'requests without a response' : 'requests answered with 503');
    await pause(AGAIN_MS * (0.5 + Math.random()));
  }
}

/** All actions are awaited before the contexts are deleted. */
function start(work: Promise<unknown>): void {
  const done = work.then(() => undefined, trouble).finally(() => underWay.delete(done));
  underWay.add(done);
}

async function join(left: number): Promise<void> {
  keys += 1;
  const { status, body } = await insist('POST', '/api/contexts', crowd.newContext, randomUUID());
  const id = textIn(body, 'id');
  if (status !== 201 || id === null) return trouble(`a context was not created: ${status}`);
  present.add(id);
  pool.push({ id, left });
}

/** 404: an earlier attempt without a response deleted it. */
async function depart(id: string): Promise<void> {
  const { status } = await insist('DELETE', `/api/contexts/${id}`, null);
  if (status !== 204 && status !== 404) return trouble(`a context was not deleted: ${status}`);
  present.delete(id);
  did('contexts deleted');
}

/** The actions of users, with their shares. */
const VISITS: readonly (readonly [share: number, visit: (member: Member) => Promise<void>])[] = [
  [0.03, cancelled],
  [0.03, interrupted],
  [0.02, (member) => pressed(member, 'interrupt')],
  [0.04, (member) => pressed(member, 'steer')],
  [1, plain],
];

function visit(): void {
  const place = Math.floor(Math.random() * pool.length);
  const member = pool[place];
  if (member === undefined) return trouble('no context is free');
  member.left -= 1;
  const last = member.left <= 0;
  if (last) {
    pool.splice(place, 1);
    start(join(lifetime()));
  }
  let remainder = Math.random();
  const [, act] = VISITS.find(([share]) => (remainder -= share) < 0) ?? [1, plain];
  start(last ? farewell(member, act) : act(member));
}

async function farewell(member: Member, act: (member: Member) => Promise<void>): Promise<void> {
  const acted = act(member);
  if (Math.random() < RASH) await pause(Math.random() * REGRET_MS);
  else await acted;
  await depart(member.id);
  await acted;
}

async function plain(member: Member): Promise<void> {
  const posted = await post(member, {});
  if (posted === null) return;
  const ended = await untilEnded(posted.jobId);
  if (ended === 'completed') took('finishes', monotonic() - posted.sentAt);
  if (Math.random() < 0.2) await insist('GET', `/api/contexts/${member.id}/messages?order=desc&limit=20`, null);
}

async function cancelled(member: Member): Promise<void> {
  const posted = await post(member, {});
  if (posted === null) return;
  await pause(Math.random() * REGRET_MS);
  const { status, ms } = await insist('POST', `/api/jobs/${posted.jobId}/cancel`, { wait_ms: 5_000 });
  did('cancels');
  if (status === 200) took('cancels', ms);
  else if (status !== 404) trouble(`a cancel was refused: ${status}`);
  await untilEnded(posted.jobId);
}

const MODES = ['discard', 'rollback', 'keep'] as const;

async function interrupted(member: Member): Promise<void> {
  const posted = await post(member, {});
  if (posted === null) return;
  await pause(Math.random() * REGRET_MS);
  const mode = MODES[Math.floor(Math.random() * MODES.length)];
  const { status } = await insist('POST', `/api/contexts/${member.id}/interrupt`, { mode });
  did('interrupts');
  if (status !== 200 && status !== 404) trouble(`an interrupt was refused: ${status}`);
  await untilEnded(posted.jobId);
}

/** A second input while the first one is processed. */
async function pressed(member: Member, delivery: 'steer' | 'interrupt'): Promise<void> {
  const first = await post(member, {});
  await pause(Math.random() * REGRET_MS);
  const second = await post(member, { delivery });
  did(`${delivery}s sent along`);
  for (const posted of [first, second]) if (posted !== null) await untilEnded(posted.jobId);
}

async function post(member: Member, extra: object): Promise<{ jobId: string; sentAt: number } | null> {
  const keyed = Math.random() < 0.25;
  if (keyed) keys += 1;
  const body = { content: `Look at every room, please. #${member.id}`, ...extra };
  const path = `/api/contexts/${member.id}/messages`;
  const answer = keyed ? await insist('POST', path, body, randomUUID()) : await ask('POST', path, body);
  const jobId = textIn(answer.body, 'job_id');
  if (answer.status === 202 && jobId !== null) {
    did('inputs');
    took('posts', answer.ms);
    return { jobId, sentAt: answer.sentAt };
  }
  // Idempotency keys are not stored for deleted contexts.
  if (keyed) keys -= 1;
  did(`inputs refused with ${answer.status}`);
  if (answer.status !== 404 && answer.status !== 503)
    trouble(`an input was refused: ${answer.status} ${JSON.stringify(answer.body)}`);
  return null;
}

/** The final status; null: the job was deleted. */
async function untilEnded(jobId: string): Promise<string | null> {
  for (;;) {
    const { status, body } = await insist('GET', `/api/jobs/${jobId}?wait_ms=${POLL_MS}`, null);
    const ended = status === 200 ? textIn(body, 'status') : null;
    if (ended === 'queued' || ended === 'running' || ended === 'waiting') continue;
    did(ended === null ? 'jobs deleted' : `jobs ${ended}`);
    if (ended === null && status !== 404) trouble(`the status of a job could not be read: ${status}`);
    if (ended === 'failed' || ended === 'incomplete') trouble(`a job ended: ${JSON.stringify(body)}`);
    return ended;
  }
}

function textIn(body: unknown, member: string): string | null {
  if (typeof body !== 'object' || body === null) return null;
  const value: unknown = Reflect.get(body, member);
  return typeof value === 'string' ? value : null;
}

function lifetime(): number {
  return FEWEST + Math.floor(Math.random() * (MOST - FEWEST + 1));
}

/** Open loop: late requests are sent at once, none is skipped. */
async function come(): Promise<void> {
  const began = monotonic();
  for (let count = 0; !leaving.signal.aborted; count += 1) {
    const early = began + (count * 1_000) / crowd.rate - monotonic();
    if (early > 0) await pause(early);
    visit();
  }
}

function account(): Account {
  return { ...take(), contexts: present.size, keys, streams: openStreams() };
}

answerQuestions<UsersProtocol>({
  async begin(asked) {
    crowd = asked;
    // As if they had existed for a while.
    const all = Array.from({ length: crowd.contexts }, () => join(1 + Math.floor(Math.random() * MOST)));
    await Promise.all(all);
    const pick = (): string | null => pool[Math.floor(Math.random() * pool.length)]?.id ?? null;
    for (let count = 0; count < crowd.followers; count += 1) {
      void follow(crowd.url, pick, leaving.signal);
    }
    void come();
  },
  account,
  async leave() {
    leaving.abort();
    while (underWay.size > 0) await Promise.all(underWay);
    for (const id of present) await depart(id);
    return account();
  },
});
