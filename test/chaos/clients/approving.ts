// A client that decides on calls: approve, deny, or approve with other arguments; sometimes two decisions at once,
// equal or not; sometimes all waiting calls.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Asker } from './requests.ts';
import type { Random } from '../random.ts';
import type { PersonDecision } from '../world/world.ts';

const LOOK_EVERY_MS = 500;

export type Approving = { decisions: PersonDecision[]; end(): Promise<void> };

export function startApproving(ask: Asker, random: Random): Approving {
  const ending = new AbortController();
  const decisions: PersonDecision[] = [];
  const run = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      const inbox = await ask.insist('GET', '/api/approvals?kind=approval&limit=200');
      for (const item of itemsIn(inbox?.body ?? {})) {
        // Some wait longer.
        if (random.chance(0.5)) continue;
        const people = random.chance(0.3) ? 2 : 1;
        await Promise.all(Array.from({ length: people }, async () => judge(ask, random, item, decisions)));
      }
      await sleep(LOOK_EVERY_MS, undefined, { signal: ending.signal }).catch(() => undefined);
    }
  };
  const done = run();
  return {
    decisions,
    async end() {
      ending.abort();
      await done;
    },
  };
}

async function judge(ask: Asker, random: Random, item: Item, decisions: PersonDecision[]): Promise<void> {
  const { context_id: contextId, tool_call_id: callId } = item;
  const number = decisions.length + 1;
  const decision = random.chance(0.65) ? 'approve' : 'deny';
  const word = decision === 'approve' && random.chance(0.4) ? `instead-${number}` : null;
  const remember = word === null && random.chance(0.04);
  const one: PersonDecision = {
    contextId,
    callId,
    key: `decision-${number}`,
    decision,
    word,
    remember,
    outcome: { kind: 'pending' },
  };
  decisions.push(one);
  const body = {
    tool_call_id: callId,
    decision,
    ...(word === null ? {} : { input: { word } }),
    ...(remember ? { remember } : {}),
    ...(decision === 'deny' ? { reason: 'chaos' } : {}),
  };
  const answer = await ask.insist('POST', `/api/contexts/${contextId}/tools/approve`, body, one.key);
  if (answer === null) return;
  one.outcome =
    answer.status === 200 ? { kind: 'taken', resolved: answer.body['resolved'] as string[] } : { kind: 'refused' };
}

type Item = { context_id: string; tool_call_id: string };

function itemsIn({ data }: Record<string, unknown>): Item[] {
  return Array.isArray(data) ? (data as Item[]) : [];
}
