// A client that has a worker wait for children that it made without waiting.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from './crowd.ts';
import { waitScript } from './inputs.ts';
import { post, toPost } from './posting.ts';
import type { Posted } from '../world/world.ts';

const MOST = 3;

/** Without children there is no wait. */
export async function waitForWorkers(client: Client, { tag, contextId }: Posted): Promise<void> {
  const { ask, random } = client;
  await sleep(random.between(200, 3_000));
  const context = await ask.insist('GET', `/api/contexts/${contextId}`);
  const own = String(context?.body['worker_id']);
  const tree = await ask.insist('GET', `/api/workers/${own}/tree?limit=200`);
  if (tree?.status !== 200) return;
  const below = workersIn(tree.body as Node).filter((id) => id !== own);
  if (below.length === 0) return;
  const ids = [...new Set(Array.from({ length: MOST }, () => random.pick(below)))];
  const waitFor = {
    worker_ids: ids,
    ...(random.chance(0.4) ? { mode: 'any' } : {}),
    ...(random.chance(0.3) ? { timeout_s: 1 } : {}),
  };
  const next = `${tag}-waits`;
  await post(client, toPost(next, contextId, waitScript(next, waitFor)));
}

type Node = { id: string; children: Node[] };

/** It and all below it. */
function workersIn({ id, children }: Node): string[] {
  return [id, ...children.flatMap(workersIn)];
}
