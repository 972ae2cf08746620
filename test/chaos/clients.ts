// The clients: they post inputs at moments of their own, each under a key until it is accepted, and then do what clients
// do: wait for the end, ask again, cancel, interrupt, edit, withdraw. What they were told is kept.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Action, Switches } from './actions.ts';
import type { Asker } from './ask.ts';
import { moments } from './faults.ts';
import { write } from './inputs.ts';
import type { Dice } from './random.ts';
import { isEnded } from './world.ts';
import type { Interrupt, Posted, Sighting, World } from './world.ts';
import type { JobStatus } from '../../src/core/job.ts';

export type Crowd = {
  contexts: string[];
  inputs: Posted[];
  sightings: Sighting[];
  interrupts: Interrupt[];
  repeats: World['repeats'];
  /** From the first request to the 202, in milliseconds. */
  acceptMs: number[];
  /** Resolves once every client is done with all it began. */
  done: Promise<void>;
};

export type CrowdPlan = { inputs: number; ms: number; stopped: AbortSignal };

/** Clients at a time: those who come while nobody answers wait outside. */
const MOST = 60;

const CONFIG = { model: 'simulated/chaos', tools: ['look', 'put', 'mail', 'pay'] };

/** What is done with an input once it was accepted. */
type FollowUp = (client: Client, posted: Posted, jobId: string, messageId: string) => Promise<void>;

type Client = { ask: Asker; dice: Dice; crowd: Crowd };

/** How often of a hundred inputs. */
const FOLLOW_UPS: readonly { action: Action; weight: number; carryOut: FollowUp }[] = [
  { action: 'repeat', weight: 8, carryOut: repeat },
  { action: 'wait', weight: 12, carryOut: wait },
  { action: 'cancel', weight: 8, carryOut: cancel },
  { action: 'bulk-cancel', weight: 1, carryOut: cancelAll },
  { action: 'interrupt', weight: 6, carryOut: interrupt },
  { action: 'edit', weight: 5, carryOut: edit },
  { action: 'withdraw', weight: 4, carryOut: withdraw },
  { action: 'reorder', weight: 3, carryOut: reorder },
];

export async function createContexts(ask: Asker, count: number): Promise<string[]> {
  return Promise.all(
    Array.from({ length: count }, async (_, at) => {
      const made = await ask.insist('POST', '/api/contexts', { config: CONFIG }, `context-${at}`);
      return String(made?.body['id']);
    }),
  );
}

export function startCrowd(
  ask: Asker,
  contexts: string[],
  dice: Dice,
  switches: Switches,
  plan: CrowdPlan,
): Crowd {
  const begun = performance.now();
  const acting = new Set<Promise<void>>();
  const run = async (): Promise<void> => {
    for (const [at, due] of moments(plan.inputs, plan.ms, dice).entries()) {
      await sleep(Math.max(0, due - (performance.now() - begun)), undefined, { signal: plan.stopped });
      if (acting.size >= MOST) await Promise.race(acting);
      const client = { ask, dice: dice.of(`input ${at}`), crowd };
      const one = act(client, `i-${at + 1}`, switches).finally(() => acting.delete(one));
      acting.add(one);
    }
  };
  const crowd: Crowd = {
    contexts,
    inputs: [],
    sightings: [],
    interrupts: [],
    repeats: [],
    acceptMs: [],
    done: Promise.resolve(),
  };
  crowd.done = run()
    .catch((error: unknown) => {
      if (!plan.stopped.aborted) throw error;
    })
    .then(async () => void (await Promise.all(acting)));
  return crowd;
}

async function act(client: Client, tag: string, switches: Switches): Promise<void> {
  const { dice, crowd, ask } = client;
  const posted = prepare(tag, dice, crowd.contexts, switches);
  crowd.inputs.push(posted);
  const body = bodyOf(posted);
  const answer = await ask.insist('POST', pathOf(posted), body, posted.key);
  if (answer === null) return;
  if (answer.status !== 202) {
    posted.outcome = { kind: 'refused', code: codeIn(answer.body) };
    return;
  }
  const jobId = String(answer.body['job_id']);
  const messageId = String(answer.body['message_id']);
  const after = Number(new URL(String(answer.body['stream_url']), 'http://x').searchParams.get('after'));
  posted.outcome = { kind: 'accepted', at: performance.now(), jobId, messageId, after };
  crowd.acceptMs.push(performance.now() - posted.firstSentAt);
  if (posted.script.shape === 'endless') return cancel(client, posted, jobId);
  const roll = dice.next() * 100;
  let from = 0;
  for (const { action, weight, carryOut } of FOLLOW_UPS) {
    from += weight;
    if (roll >= from) continue;
    if (switches[action]) await carryOut(client, posted, jobId, messageId);
    return;
  }
}

function prepare(tag: string, dice: Dice, contexts: readonly string[], switches: Switches): Posted {
  const deliveries = [
    { delivery: 'queue' as const, weight: 80 },
    { delivery: 'reject' as const, weight: switches.reject ? 6 : 0 },
    { delivery: 'steer' as const, weight: switches.steer ? 8 : 0 },
    { delivery: 'interrupt' as const, weight: switches['deliver-interrupt'] ? 6 : 0 },
  ];
  const { delivery } = dice.weighted(deliveries);
  return {
    tag,
    key: `key-${tag}`,
    contextId: dice.pick(contexts),
    delivery,
    priority: switches.priority && delivery === 'queue' && dice.chance(0.2) ? dice.between(1, 10) : 5,
    script: write(tag, dice, delivery === 'steer'),
    firstSentAt: performance.now(),
    outcome: { kind: 'pending' },
    cancelled: false,
    edited: null,
    withdrawn: null,
    reordered: false,
  };
}

function bodyOf({ tag, delivery, priority, script }: Posted): object {
  return {
    content: script.text,
    metadata: { tag },
    ...(delivery === 'queue' ? {} : { delivery }),
    ...(priority === 5 ? {} : { priority }),
    ...(script.maxSteps === null ? {} : { max_steps: script.maxSteps }),
    ...(script.deadlineMs === null
      ? {}
      : { deadline: new Date(Date.now() + script.deadlineMs).toISOString() }),
  };
}

function pathOf({ contextId }: Posted): string {
  return `/api/contexts/${contextId}/messages`;
}

function codeIn(body: Record<string, unknown>): string {
  const { error } = body;
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : 'unknown';
}

/** The same request again: the same answer, to the letter. Of what has no moment in it. */
async function repeat({ ask, crowd }: Client, posted: Posted, jobId: string): Promise<void> {
  if (posted.script.deadlineMs !== null) return;
  const again = await ask.insist('POST', pathOf(posted), bodyOf(posted), posted.key);
  if (again === null) return;
  if (again.status !== 202 || again.body['job_id'] !== jobId) {
    crowd.repeats.push({ tag: posted.tag, first: jobId, again: again.text });
  }
}

async function wait({ ask, dice, crowd }: Client, _: Posted, jobId: string): Promise<void> {
  const { status, body } = await ask.once('GET', `/api/jobs/${jobId}?wait_ms=${dice.between(0, 6_000)}`);
  const job = body['status'] as JobStatus;
  if (status !== 200 || !isEnded(job)) return;
  const output = body['output'] as { message_id: string } | null;
  crowd.sightings.push({ jobId, status: job, outputId: output?.message_id ?? null });
}

async function cancel({ ask, dice, crowd }: Client, posted: Posted, jobId: string): Promise<void> {
  await sleep(dice.between(0, 3_000));
  posted.cancelled = true;
  const body = { reason: 'chaos', wait_ms: dice.chance(0.5) ? 0 : 2_000 };
  const receipt = await ask.insist('POST', `/api/jobs/${jobId}/cancel`, body, `cancel-${posted.tag}`);
  const status = receipt?.body['status'] as JobStatus;
  // Of a job that completed the receipt does not tell the output.
  if (receipt?.status === 200 && isEnded(status) && status !== 'completed') {
    crowd.sightings.push({ jobId, status, outputId: null });
  }
}

async function cancelAll({ ask, dice, crowd }: Client, { tag, contextId }: Posted): Promise<void> {
  await sleep(dice.between(0, 2_000));
  const marked = crowd.inputs.filter((one) => one.contextId === contextId);
  for (const one of marked) one.cancelled = true;
  await ask.insist('POST', '/api/jobs/cancel', { context_id: contextId }, `cancel-all-${tag}`);
  // Whatever was posted until it was answered may have been met.
  for (const one of crowd.inputs) if (one.contextId === contextId) one.cancelled = true;
}

async function interrupt({ ask, dice, crowd }: Client, { tag, contextId }: Posted): Promise<void> {
  await sleep(dice.between(0, 2_000));
  const mode = dice.pick(['discard', 'rollback', 'keep'] as const);
  const told: Interrupt = { contextId, mode, jobId: null, removed: null };
  crowd.interrupts.push(told);
  const body = { mode, wait_ms: dice.chance(0.5) ? 0 : 4_000 };
  const answer = await ask.insist('POST', `/api/contexts/${contextId}/interrupt`, body, `interrupt-${tag}`);
  if (answer?.status !== 200 || typeof answer.body['job_id'] !== 'string') return;
  told.jobId = answer.body['job_id'];
  if (answer.body['status'] === 'interrupted') told.removed = answer.body['removed_messages'] as string[];
}

/** A comment in front: the script stays what it was. */
async function edit({ ask }: Client, posted: Posted, _: string, messageId: string): Promise<void> {
  const answer = await ask.insist(
    'PATCH',
    `${pathOf(posted)}/${messageId}`,
    { content: `# edited\n${posted.script.text}` },
    `edit-${posted.tag}`,
  );
  if (answer !== null) posted.edited = answer.status === 200 ? 'taken' : 'refused';
}

async function withdraw({ ask }: Client, posted: Posted, _: string, messageId: string): Promise<void> {
  const answer = await ask.insist(
    'DELETE',
    `${pathOf(posted)}/${messageId}`,
    undefined,
    `withdraw-${posted.tag}`,
  );
  if (answer !== null) posted.withdrawn = [200, 204].includes(answer.status) ? 'taken' : 'refused';
}

/** In one of so many contexts: elsewhere the order in which inputs were accepted is looked at. */
const REORDERED = 4;

async function reorder(
  { ask, dice, crowd }: Client,
  posted: Posted,
  _: string,
  messageId: string,
): Promise<void> {
  if (posted.delivery === 'steer' || crowd.contexts.indexOf(posted.contextId) % REORDERED !== 0) return;
  posted.reordered = true;
  const body = { position: dice.between(1, 4) };
  await ask.insist('PATCH', `${pathOf(posted)}/${messageId}`, body, `reorder-${posted.tag}`);
}
