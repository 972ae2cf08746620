// Settings that change while jobs run: each over the version that its writer has read.
import { setTimeout as sleep } from 'node:timers/promises';
import { SELL, TOUR } from '../service-tools.ts';
import { GUARD, SPAWN, WAIT } from './inputs.ts';
import type { Client } from './crowd.ts';
import type { Config } from '../world/stored.ts';
import type { Posted, Setting } from '../world/world.ts';
import type { Random } from '../random.ts';
import { ASK_USER } from '../../../src/core/conversation/question.ts';

/** So little fits into a prompt that contexts are compacted again and again; but more than one turn. */
export const CONFIG = {
  model: 'simulated/chaos',
  tools: ['look', 'put', 'mail', 'pay', 'wire', ASK_USER, SPAWN, WAIT, GUARD, SELL, TOUR],
  context_limit: 3_200,
  compaction: { type: 'llm', keep_turns: 2 },
};

/** Names may be unknown while no worker process lives to publish them; a version may be outdated. */
const MAY_BE_REFUSED = { fine: [412, 422] };

export async function changeSettings(client: Client, { tag, contextId }: Posted): Promise<void> {
  const { ask, random, crowd } = client;
  await sleep(random.between(0, 3_000));
  const path = `/api/contexts/${contextId}`;
  const standing = await ask.insist('GET', path);
  if (standing?.etag === undefined || standing.etag === null) return;
  await sleep(random.between(0, 500));
  const whole = random.chance(0.3);
  const config = whole ? { ...CONFIG, ...part(random) } : part(random);
  const one: Setting = {
    contextId,
    key: `settings-${tag}`,
    whole,
    config,
    seen: versionIn(standing.etag),
    version: null,
  };
  crowd.settings.push(one);
  const method = whole ? 'PUT' : 'PATCH';
  const more = { ifMatch: standing.etag, ...MAY_BE_REFUSED };
  const answer = await ask.insist(method, path, { config }, one.key, more);
  if (answer?.status === 200 && answer.etag !== null) one.version = versionIn(answer.etag);
}

function part(random: Random): Config {
  return random.pick<Config>([
    { model: random.pick(['simulated/chaos', 'simulated/other']) },
    { system_prompt: random.chance(0.7) ? `Be brief: ${random.between(1, 1_000)}.` : '' },
    { tools: random.chance(0.6) ? CONFIG.tools : CONFIG.tools.filter(() => random.chance(0.7)) },
    { compaction: { type: random.pick(['llm', 'threshold']), keep_turns: random.between(1, 3) } },
    { mode: random.pick(['plan', 'act']) },
  ]);
}

function versionIn(etag: string): number {
  return Number(etag.replaceAll('"', ''));
}
