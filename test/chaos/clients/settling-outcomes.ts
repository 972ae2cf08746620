// A client that checks the real effects and reports unknown outcomes: the true one, where it is certain; sometimes,
// that it is unknown.
import { setTimeout as sleep } from 'node:timers/promises';
import { hasHappened } from '../../e2e/outside/outside-tools.ts';
import type { Asker } from './requests.ts';
import { TIMES } from '../platform.ts';
import type { Random } from '../random.ts';
import type { OutcomeReport } from '../world/world.ts';

/** A process that was stopped beyond its lease may still finish its call for this long after it was given up. */
const CERTAIN_MS = TIMES.lease * 2;
const LOOK_EVERY_MS = 500;

export type Telling = {
  /** The accepted reports. */
  reported: OutcomeReport[];
  end(): Promise<void>;
};

export function startTelling(ask: Asker, outside: string, random: Random): Telling {
  const ending = new AbortController();
  const reported: OutcomeReport[] = [];
  const run = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      const jobs = await ask.insist('GET', '/api/jobs?status=waiting&limit=200');
      for (const { contextId, callId } of waitingIn(jobs?.body ?? {})) {
        const outcome = await report(ask, outside, random, `/api/contexts/${contextId}/tools/${callId}`);
        if (outcome !== null) reported.push({ contextId, callId, outcome });
      }
      await sleep(LOOK_EVERY_MS, undefined, { signal: ending.signal }).catch(() => undefined);
    }
  };
  const done = run();
  return {
    reported,
    async end() {
      ending.abort();
      await done;
    },
  };
}

/** The accepted report; null: none yet, or another client was faster. */
async function report(
  ask: Asker,
  outside: string,
  random: Random,
  path: string,
): Promise<OutcomeReport['outcome'] | null> {
  const call = await ask.insist('GET', path, undefined, undefined, { fine: [404] });
  if (call?.status !== 200 || call.body['waits_for'] !== 'outcome') return null;
  const [name, key] = [String(call.body['name']), String(call.body['id'])];
  const happened = hasHappened(outside, name, key);
  const waited = Date.now() - Date.parse(String(call.body['waits_since']));
  if (!happened && waited < CERTAIN_MS) return null;
  const outcome = random.chance(0.2) ? 'tell' : happened ? 'happened' : 'did_not_happen';
  const body = outcome === 'happened' ? { outcome, result: `${name}: done` } : { outcome };
  const answer = await ask.insist('POST', `${path}/resolve`, body, `tell-${key}-${Date.now()}`, {
    fine: [404],
  });
  return answer?.status === 200 ? outcome : null;
}

function waitingIn({ data }: Record<string, unknown>): { contextId: string; callId: string }[] {
  const jobs = Array.isArray(data) ? (data as Job[]) : [];
  return jobs.flatMap(({ context_id: contextId, waiting_for: list }) =>
    list.flatMap(({ kind, tool_call_id: callId }) =>
      kind === 'approval' && callId !== undefined ? [{ contextId, callId }] : [],
    ),
  );
}

type Job = { context_id: string; waiting_for: { kind: string; tool_call_id?: string }[] };
