/** How long a cancelled model call continues while 200 jobs receive slow streams. */
import { firstByMark, postAll, withSystems, type Scenario } from '../bench.ts';
import { percentile, type Figure } from '../figures.ts';
import type { Answer } from '../load/protocol.ts';

const RUNNING = 200;
const CANCELLED = 200;
const GAP_MS = 20;

export const cancel: Scenario = {
  about: 'from the cancel to the closed provider connection, 200 jobs running',
  run: (bench) =>
    withSystems(bench, ['nightshift'], async ([system]) => {
      if (system === undefined) return [];
      await system.startWorker(2 * RUNNING);
      const delays: number[] = [];
      for (let round = 0; round < bench.rounds; round += 1) {
        const contexts = await system.createContexts(RUNNING + CANCELLED);
        await bench.provider.ask('play', { steps: 1, tokens: 6_000, tokenMs: 100 });
        const jobs = await postAll(bench, system, contexts);
        await bench.provider.ask('untilOpen', RUNNING + CANCELLED);
        const cancelled = jobs.slice(0, CANCELLED).map(jobIn);
        const sent = await bench.load.ask('send', {
          url: system.url,
          requests: cancelled.map((id) => cancelOf(id)),
          atOnce: 1,
          gapMs: GAP_MS,
        });
        await bench.load.ask('send', {
          url: system.url,
          requests: jobs.slice(CANCELLED).map((answer) => cancelOf(jobIn(answer))),
          atOnce: 8,
          gapMs: 0,
        });
        const closed = firstByMark(await bench.provider.ask('observed', null), 'closed');
        delays.push(...sent.map(({ sentAt }, index) => (closed.get(contexts[index] ?? '') ?? Number.NaN) - sentAt));
        bench.say(`p99 so far ${percentile(delays, 0.99).toFixed(1)} ms`);
      }
      return [0.5, 0.99].map((share): Figure => ({
        name: `cancel, p${share * 100}`,
        unit: 'ms',
        nightshift: percentile(delays, share),
        baseline: null,
        goal: share === 0.99 ? { of: 'value', is: 'at most', bound: 50 } : null,
      }));
    }),
};

function cancelOf(jobId: string) {
  return { method: 'POST' as const, path: `/api/jobs/${jobId}/cancel`, body: { wait_ms: 5_000 } };
}

function jobIn({ body }: Answer): string {
  if (typeof body === 'object' && body !== null && 'job_id' in body) return String(body.job_id);
  throw new Error('The response to an accepted input has no job_id.');
}
