// Compactions that clients request. Automatic ones come from a tiny `context_limit` (settings.ts).
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from './crowd.ts';
import type { Compact, Posted } from '../world/world.ts';

/** At least one turn stays whole: a summarised input is no script any more. */
export async function compact({ ask, random, crowd }: Client, { tag, contextId }: Posted): Promise<void> {
  await sleep(random.between(0, 3_000));
  const one: Compact = { contextId, key: `compact-${tag}`, jobId: null, outcome: 'pending' };
  crowd.compacts.push(one);
  const body = { keep_turns: random.between(1, 3), ...(random.chance(0.3) ? { type: 'threshold' } : {}) };
  const answer = await ask.insist('POST', `/api/contexts/${contextId}/compact`, body, one.key);
  if (answer === null) return;
  one.outcome = answer.status === 202 ? 'taken' : 'refused';
  if (answer.status === 202) one.jobId = String(answer.body['job_id']);
}
