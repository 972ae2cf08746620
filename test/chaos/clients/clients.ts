// The clients: they post inputs at random times, each under a key until it is accepted, and then act: wait for the end,
// repeat the request, cancel, interrupt, edit, withdraw, stop and start. Their answers are recorded.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Action, Switches } from './actions.ts';
import { postAttended } from './questions.ts';
import type { Asker } from './requests.ts';
import { editPast, regenerate } from './revisions.ts';
import { branchOff, clear, deleteBranch, switchBranch } from './branching.ts';
import { compact } from './compacting.ts';
import type { Client, Crowd } from './crowd.ts';
import { moments } from '../faults.ts';
import {
  bodyOf,
  pathOf,
  post,
  postedTo,
  prepare,
  prepareDelayed,
  prepareNewWorker,
  prepareTogether,
} from './posting.ts';
import type { Random } from '../random.ts';
import { CONFIG, changeSettings } from './settings.ts';
import { stopAndStart } from './stopping.ts';
import { waitForWorkers } from './waiting.ts';
import { isEnded, type Interrupt, type Posted } from '../world/world.ts';
import type { JobStatus } from '../../../src/core/run/job.ts';

/** `webhook`: the one that inputs name. */
export type CrowdPlan = { inputs: number; ms: number; stopped: AbortSignal; webhook: string };

/** Clients at a time: further clients wait while no server answers. */
const MOST = 60;
/** The share of inputs that name a webhook. */
const NAMING = 0.1;

/** The actions on an input once it was accepted. */
type FollowUp = (client: Client, posted: Posted, jobId: string, messageId: string | null) => Promise<void>;

/** How often of a hundred inputs. */
const FOLLOW_UPS: readonly { action: Action; weight: number; carryOut: FollowUp }[] = [
  { action: 'repeat', weight: 6, carryOut: repeat },
  { action: 'wait', weight: 6, carryOut: wait },
  { action: 'cancel', weight: 8, carryOut: cancel },
  { action: 'bulk-cancel', weight: 1, carryOut: cancelAll },
  { action: 'interrupt', weight: 6, carryOut: interrupt },
  { action: 'edit', weight: 5, carryOut: edit },
  { action: 'withdraw', weight: 4, carryOut: withdraw },
  { action: 'reorder', weight: 3, carryOut: reorder },
  { action: 'stop', weight: 4, carryOut: stopAndStart },
  { action: 'branch', weight: 12, carryOut: branchOff },
  { action: 'delete-branch', weight: 5, carryOut: deleteBranch },
  { action: 'switch', weight: 5, carryOut: switchBranch },
  { action: 'edit-past', weight: 9, carryOut: editPast },
  { action: 'regenerate', weight: 9, carryOut: regenerate },
  { action: 'clear', weight: 4, carryOut: clear },
  { action: 'settings', weight: 8, carryOut: changeSettings },
  { action: 'compact', weight: 5, carryOut: compact },
];

export async function createContexts(ask: Asker, count: number): Promise<string[]> {
  return Promise.all(
    Array.from({ length: count }, async (_, at) => {
      const made = await ask.insist('POST', '/api/contexts', { config: CONFIG }, `context-${at}`);
      return String(made?.body['id']);
    }),
  );
}

export function startCrowd(ask: Asker, contexts: string[], random: Random, switches: Switches, plan: CrowdPlan): Crowd {
  const begun = performance.now();
  const acting = new Set<Promise<void>>();
  const run = async (): Promise<void> => {
    for (const [at, due] of moments(plan.inputs, plan.ms, random).entries()) {
      await sleep(Math.max(0, due - (performance.now() - begun)), undefined, { signal: plan.stopped });
      if (acting.size >= MOST) await Promise.race(acting);
      const client = { ask, random: random.of(`input ${at}`), crowd };
      const one = act(client, `i-${at + 1}`, switches).finally(() => acting.delete(one));
      acting.add(one);
    }
  };
  const crowd: Crowd = {
    contexts,
    webhook: plan.webhook,
    inputs: [],
    sightings: [],
    interrupts: [],
    stops: [],
    replies: [],
    changes: [],
    settings: [],
    compacts: [],
    followUps: [],
    sweeps: [],
    repeats: [],
    acceptMs: [],
    done: Promise.resolve(),
  };
  crowd.done = run()
    .catch((error: unknown) => {
      if (!plan.stopped.aborted) throw error;
    })
    .then(() => Promise.all(acting))
    // Follow-ups make posts, which may make follow-ups.
    .then(async () => {
      for (const followUp of crowd.followUps) await followUp;
    });
  return crowd;
}

async function act(client: Client, tag: string, switches: Switches): Promise<void> {
  const { random, crowd } = client;
  // In every run at least one is delayed, names the webhook, and is not cancelled on purpose.
  if (switches.delay && crowd.inputs.length === 0) {
    const first = prepareDelayed(tag, random, crowd.contexts);
    return void (await post(client, { ...first, webhook: switches.webhook ? crowd.webhook : null }));
  }
  if (switches['no-key'] && random.chance(0.04)) {
    const together = prepareTogether(tag, random, crowd.contexts);
    await Promise.all(together.map(async (posted) => postAndFollowUp(client, posted, switches)));
    return;
  }
  const makesWorker = switches['new-worker'] && random.chance(0.03);
  const posted = makesWorker ? prepareNewWorker(tag, random, switches) : prepare(tag, random, crowd.contexts, switches);
  const names = switches.webhook && !makesWorker && posted.delivery === 'queue' && random.chance(NAMING);
  await postAndFollowUp(client, names ? { ...posted, webhook: crowd.webhook } : posted, switches);
}

async function postAndFollowUp(client: Client, posted: Posted, switches: Switches): Promise<void> {
  const { random, crowd } = client;
  const accepted = await postAttended(client, posted);
  if (accepted === null) return;
  const { jobId, messageId } = accepted;
  if (posted.script.children.some(({ wait }) => !wait)) crowd.followUps.push(waitForWorkers(client, posted));
  if (['endless', 'hopeless'].includes(posted.script.shape)) return cancel(client, posted, jobId);
  const roll = random.next() * 100;
  let from = 0;
  for (const { action, weight, carryOut } of FOLLOW_UPS) {
    from += weight;
    if (roll >= from) continue;
    if (switches[action]) await carryOut(client, posted, jobId, messageId);
    return;
  }
}

/** The same request again: byte for byte the same answer. Of fields without a time. */
async function repeat({ ask, crowd }: Client, posted: Posted, jobId: string): Promise<void> {
  if (posted.script.deadlineMs !== null || posted.key === null) return;
  const again = await ask.insist('POST', postedTo(posted), bodyOf(posted), posted.key);
  if (again === null) return;
  if (again.status !== (posted.isForNewWorker ? 201 : 202) || again.body['job_id'] !== jobId) {
    crowd.repeats.push({ tag: posted.tag, first: jobId, again: again.text });
  }
}

async function wait({ ask, random, crowd }: Client, _: Posted, jobId: string): Promise<void> {
  const { status, body } = await ask.once('GET', `/api/jobs/${jobId}?wait_ms=${random.between(0, 6_000)}`);
  const job = body['status'] as JobStatus;
  if (status !== 200 || !isEnded(job)) return;
  const output = body['output'] as { message_id: string } | null;
  crowd.sightings.push({ jobId, status: job, outputId: output?.message_id ?? null });
}

async function cancel({ ask, random, crowd }: Client, posted: Posted, jobId: string): Promise<void> {
  await sleep(random.between(0, 3_000));
  posted.cancelled = true;
  const body = { reason: 'chaos', wait_ms: random.chance(0.5) ? 0 : 2_000 };
  const receipt = await ask.insist('POST', `/api/jobs/${jobId}/cancel`, body, `cancel-${posted.tag}`);
  const status = receipt?.body['status'] as JobStatus;
  // The receipt of a completed job does not contain the output.
  if (receipt?.status === 200 && isEnded(status) && status !== 'completed') {
    crowd.sightings.push({ jobId, status, outputId: null });
  }
}

async function cancelAll({ ask, random, crowd }: Client, { tag, contextId }: Posted): Promise<void> {
  await sleep(random.between(0, 2_000));
  crowd.sweeps.push(contextId);
  const marked = crowd.inputs.filter((one) => one.contextId === contextId);
  for (const one of marked) one.cancelled = true;
  await ask.insist('POST', '/api/jobs/cancel', { context_id: contextId }, `cancel-all-${tag}`);
  // Every input posted until the answer may have been matched.
  for (const one of crowd.inputs) if (one.contextId === contextId) one.cancelled = true;
}

async function interrupt({ ask, random, crowd }: Client, { tag, contextId }: Posted): Promise<void> {
  await sleep(random.between(0, 2_000));
  const mode = random.pick(['discard', 'rollback', 'keep'] as const);
  const request: Interrupt = { contextId, mode, jobId: null, removed: null };
  crowd.interrupts.push(request);
  const body = { mode, wait_ms: random.chance(0.5) ? 0 : 4_000 };
  const answer = await ask.insist('POST', `/api/contexts/${contextId}/interrupt`, body, `interrupt-${tag}`);
  if (answer?.status !== 200 || typeof answer.body['job_id'] !== 'string') return;
  request.jobId = answer.body['job_id'];
  if (answer.body['status'] === 'interrupted') request.removed = answer.body['removed_messages'] as string[];
}

/** A comment in front: the script stays the same. */
async function edit({ ask }: Client, posted: Posted, _: string, messageId: string | null): Promise<void> {
  if (messageId === null) return;
  const answer = await ask.insist(
    'PATCH',
    `${pathOf(posted)}/${messageId}`,
    { content: `# edited\n${posted.script.text}` },
    `edit-${posted.tag}`,
  );
  if (answer !== null) posted.edited = answer.status === 200 ? 'taken' : 'refused';
}

async function withdraw({ ask }: Client, posted: Posted, _: string, messageId: string | null): Promise<void> {
  if (messageId === null) return;
  const answer = await ask.insist('DELETE', `${pathOf(posted)}/${messageId}`, undefined, `withdraw-${posted.tag}`);
  if (answer !== null) posted.withdrawn = [200, 204].includes(answer.status) ? 'taken' : 'refused';
}

/** In one of so many contexts: in the others the order of accepted inputs is checked. */
const REORDERED = 4;

async function reorder(
  { ask, random, crowd }: Client,
  posted: Posted,
  _: string,
  messageId: string | null,
): Promise<void> {
  if (messageId === null) return;
  // A delayed input has no place yet.
  if (
    posted.delay !== null ||
    posted.delivery === 'steer' ||
    crowd.contexts.indexOf(posted.contextId) % REORDERED !== 0
  )
    return;
  posted.reordered = true;
  const body = { position: random.between(1, 4) };
  await ask.insist('PATCH', `${pathOf(posted)}/${messageId}`, body, `reorder-${posted.tag}`);
}
