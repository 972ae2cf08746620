/** Ten branches of one context with jobs queued on each. They run one after the other. */
import { postAll, untilEnded, withSystems, type Bench, type Scenario } from '../bench.ts';
import { alone, median } from '../figures.ts';
import type { Request } from '../load/protocol.ts';
import { SCRIPT } from '../provider/script.ts';
import type { System } from '../system.ts';
import { monotonic } from '../talk.ts';

const BRANCHES = 10;
const JOBS = 10;
const HISTORY_STEPS = 20;

type Round = { stepsPerS: number; postMs: number };

export const branches: Scenario = {
  about: 'ten branches of one context working',
  run: (bench) =>
    withSystems(bench, ['nightshift'], async ([system]) => {
      if (system === undefined) return [];
      await system.startWorker(100);
      const rounds: Round[] = [];
      for (let count = 0; count <= bench.rounds; count += 1) {
        const round = await measure(bench, system);
        bench.say(`${round.stepsPerS.toFixed(0)} steps/s`);
        if (count > 0) rounds.push(round);
      }
      const of = (value: (round: Round) => number): number => median(rounds.map(value));
      return [
        alone(
          'ten branches of one context, ten jobs on each',
          'steps/s',
          of(({ stepsPerS }) => stepsPerS),
        ),
        alone(
          'an input to one of them, to its 202',
          'ms',
          of(({ postMs }) => postMs),
        ),
      ];
    }),
};

async function measure(bench: Bench, system: System): Promise<Round> {
  const { url, sql } = system;
  const contexts = await system.createContexts(1);
  await bench.provider.ask('play', { steps: HISTORY_STEPS });
  await postAll(bench, system, contexts);
  await untilEnded(bench, system, contexts);
  await bench.provider.ask('play', {});
  const at = `/api/contexts/${contexts[0]}`;
  const names = Array.from({ length: BRANCHES }, (_, index) => `line-${index}`);
  const send = (requests: Request[], atOnce: number) => bench.load.ask('send', { url, requests, atOnce, gapMs: 0 });
  await send(
    names.map((name) => ({ method: 'POST', path: `${at}/branches`, body: { name } })),
    1,
  );
  const inputs = Array.from({ length: JOBS }, () => names).flatMap((on, round) =>
    on.map((branch): Request => ({
      method: 'POST',
      path: `${at}/messages`,
      body: { content: `#${branch}-${round}`, branch },
    })),
  );
  const began = monotonic();
  const posted = await send(inputs, BRANCHES);
  await untilEnded(bench, system, contexts);
  const seconds = (monotonic() - began) / 1_000;
  const ended = await sql<{ branch: string; count: number }[]>`
    select branch, count(*)::int as count from jobs
    where context_id = ${contexts[0] ?? ''} and status = 'completed' and branch <> 'main' group by branch`;
  if (ended.length !== BRANCHES || ended.some(({ count }) => count !== JOBS))
    throw new Error(`Some jobs did not complete: ${JSON.stringify(ended)}`);
  return { stepsPerS: (inputs.length * SCRIPT.steps) / seconds, postMs: median(posted.map(({ ms }) => ms)) };
}
