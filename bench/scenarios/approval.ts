/**
 * A tool that needs approval: the time from the posted decision to the model request after the tool, idle. For
 * comparison, the same tool without approval: the time from one model request to the next.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { postAll, untilEnded, withSystems, type Bench, type Scenario } from '../bench.ts';
import { alone, percentile } from '../figures.ts';
import type { System } from '../system.ts';
import { LOOK } from '../tool.ts';

const CALLS = 50;
const GAP_MS = 25;

/** Milliseconds, for each call. */
type Round = { approved: number[]; free: number[] };

export const approval: Scenario = {
  about: 'from an approval to the model request after the tool, idle',
  run: (bench) =>
    withSystems(bench, ['nightshift'], async ([system]) => {
      if (system === undefined) return [];
      await system.startWorker(100);
      const rounds: Round[] = [];
      for (let count = 0; count <= bench.rounds; count += 1) {
        const round = { approved: await asked(bench, system), free: await unasked(bench, system) };
        bench.say(
          `approved: p50 ${percentile(round.approved, 0.5).toFixed(2)} ms; without approval: p50 ${percentile(round.free, 0.5).toFixed(2)} ms`,
        );
        if (count > 0) rounds.push(round);
      }
      const approved = rounds.flatMap((round) => round.approved);
      const free = rounds.flatMap((round) => round.free);
      return [
        alone('from an approval to the next model request, p50', 'ms', percentile(approved, 0.5)),
        alone('from an approval to the next model request, p99', 'ms', percentile(approved, 0.99)),
        alone('the same tool without approval, from one model request to the next, p50', 'ms', percentile(free, 0.5)),
      ];
    }),
};

async function asked(bench: Bench, system: System): Promise<number[]> {
  const contexts = await createContexts(bench, system, [{ tool: '*', decision: 'always' }]);
  await bench.provider.ask('play', { steps: 2 });
  await postAll(bench, system, contexts, 1, GAP_MS);
  await untilAllWait(bench, system, contexts);
  const requests = contexts.map((id) => ({
    method: 'POST' as const,
    path: `/api/contexts/${id}/tools/approve`,
    body: { all: true, decision: 'approve' },
  }));
  const approvals = await bench.load.ask('send', { url: system.url, requests, atOnce: 1, gapMs: GAP_MS });
  await untilEnded(bench, system, contexts);
  const seen = await modelRequests(bench);
  return contexts.map((id, index) => (seen.get(id)?.[1] ?? Number.NaN) - (approvals[index]?.sentAt ?? 0));
}

async function unasked(bench: Bench, system: System): Promise<number[]> {
  const contexts = await createContexts(bench, system, []);
  await bench.provider.ask('play', { steps: 2 });
  await postAll(bench, system, contexts, 1, GAP_MS);
  await untilEnded(bench, system, contexts);
  const seen = await modelRequests(bench);
  return contexts.map((id) => {
    const [first = Number.NaN, second = Number.NaN] = seen.get(id) ?? [];
    return second - first;
  });
}

/** The times of the model requests, by context. */
async function modelRequests(bench: Bench): Promise<Map<string, number[]>> {
  const seen = new Map<string, number[]>();
  for (const { kind, mark, at } of await bench.provider.ask('observed', null)) {
    if (kind === 'request') seen.set(mark, [...(seen.get(mark) ?? []), at]);
  }
  return seen;
}

async function createContexts({ load, format }: Bench, { url }: System, rules: readonly object[]): Promise<string[]> {
  const model = format === 'openai' ? 'openai-chat/bench' : 'anthropic/bench';
  const body = { config: { model, tools: [LOOK.name], approval: rules } };
  const requests = Array.from({ length: CALLS }, () => ({
    method: 'POST' as const,
    path: '/api/contexts',
    body,
  }));
  const answers = await load.ask('send', { url, requests, atOnce: 8, gapMs: 0 });
  return answers.map((answer) => {
    const created = answer.body;
    if (typeof created === 'object' && created !== null && 'id' in created && typeof created.id === 'string')
      return created.id;
    throw new Error('A context was created without an id.');
  });
}

async function untilAllWait({ signal }: Bench, { sql }: System, contexts: readonly string[]): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const [row] = await sql<{ count: number }[]>`
      select count(*)::int as count from contexts
      where scheduling_status = 'waiting' and state = 'AwaitingToolApproval' and id = any(${[...contexts]}::uuid[])`;
    if (row?.count === contexts.length) return;
    await pause(20);
  }
}
