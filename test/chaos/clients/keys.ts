// Keys that the API makes. Each is used again and again, at any API process, until it was revoked and refused.
import { setTimeout as sleep } from 'node:timers/promises';
import pTimeout from 'p-timeout';
import type { Random } from '../random.ts';
import type { KeyUse, MadeKey } from '../world/world.ts';
import type { Asker } from './requests.ts';

const COUNT = 6;
const EVERY_MS = 250;
/** They are used so long after they were revoked, at least. */
const AFTERWARDS_MS = 4_000;
/** They are used so long at most: a key that is still accepted then is what the check reports. */
const MOST_AFTERWARDS_MS = 30_000;
/** So far above what is used that no request exceeds it. */
const LIMITS = { requests_per_s: 500, concurrent_requests: 100 };

/** Resolves once each key was revoked and refused, or was not refused in time. */
export async function revokeKeys(ask: Asker, random: Random, ms: number): Promise<MadeKey[]> {
  const keys = Array.from({ length: COUNT }, (_, at) => revokeOne(ask, random.of(`key ${at}`), ms));
  return (await Promise.all(keys)).filter((key) => key !== null);
}

/** Null: given up before it was made. */
async function revokeOne(ask: Asker, random: Random, ms: number): Promise<MadeKey | null> {
  await sleep(random.between(0, ms * 0.3));
  const body = { name: 'chaos', scopes: ['read'], limits: LIMITS };
  const made = await ask.insist('POST', '/api/keys', body);
  const [id, bearer] = [made?.body['id'], made?.body['key']];
  if (typeof id !== 'string' || typeof bearer !== 'string') return null;
  const key: MadeKey = { id, uses: [], revoked: null };
  const refused = Promise.withResolvers<void>();
  const over = new AbortController();
  const using = repeatUntil(over.signal, async () => {
    const use = await read(ask, bearer);
    key.uses.push(use);
    if (key.revoked !== null && use.status === 401) refused.resolve();
  });
  await sleep(random.between(ms * 0.2, ms * 0.6));
  const asked = Date.now();
  const gone = await ask.insist('DELETE', `/api/keys/${id}`);
  if (gone?.status === 204) {
    key.revoked = { asked, answered: Date.now() };
    const inTime = pTimeout(refused.promise, { milliseconds: MOST_AFTERWARDS_MS, fallback: () => undefined });
    await Promise.all([sleep(AFTERWARDS_MS), inTime]);
  }
  over.abort();
  await using;
  return key;
}

/** Also while an answer is missing: a new request begins in time. */
async function repeatUntil(over: AbortSignal, use: () => Promise<void>): Promise<void> {
  const open = new Set<Promise<void>>();
  while (!over.aborted) {
    const one = use().finally(() => open.delete(one));
    open.add(one);
    await sleep(EVERY_MS);
  }
  await Promise.all(open);
}

async function read(ask: Asker, bearer: string): Promise<KeyUse> {
  const sentAt = Date.now();
  const { status } = await ask.once('GET', '/api/contexts?limit=1', undefined, undefined, { bearer, fine: [401] });
  return { sentAt, answeredAt: Date.now(), status };
}
