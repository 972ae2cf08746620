/** One worker spawns 1,000 others with one answer, and waits for all of them. */
import { untilEnded, withSystems, type Bench, type Scenario } from '../bench.ts';
import { median, type Figure } from '../figures.ts';
import type { Answer, Request } from '../load/protocol.ts';
import type { Running } from '../process.ts';
import type { System } from '../system.ts';
import { cpuSeconds } from '../usage.ts';

const CHILDREN = 1_000;
const SCRIPT = [
  ...Array.from({ length: CHILDREN }, (_, n) => `call: spawn_worker {"input": "say: ${n}"}`),
  '---',
  'say: all are done',
].join('\n');

/** Seconds from the input to the end of its job, and CPU seconds of the worker process. */
type Round = { took: number; cpu: number };

export const spawn: Scenario = {
  about: `a worker that spawns ${CHILDREN} others and waits for them`,
  run: (bench) =>
    withSystems(bench, ['nightshift'], async ([system]) => {
      if (system === undefined) return [];
      const worker = await system.startWorker(100);
      const rounds: Round[] = [];
      for (let count = 0; count <= bench.rounds; count += 1) {
        const round = await measure(bench, system, worker);
        bench.say(`nightshift: ${round.took.toFixed(2)} s, ${round.cpu.toFixed(2)} s of CPU`);
        if (count > 0) rounds.push(round);
      }
      const line = (name: string, unit: string, value: (round: Round) => number): Figure => ({
        name,
        unit,
        nightshift: median(rounds.map(value)),
        baseline: null,
        goal: null,
      });
      return [
        line(`spawn and join of ${CHILDREN}`, 's', ({ took }) => took),
        line('a child, from its spawn to its end', 'ms CPU of the worker', ({ cpu }) => (cpu / CHILDREN) * 1_000),
      ];
    }),
};

async function measure(bench: Bench, system: System, worker: Running): Promise<Round> {
  const config = { model: 'simulated/bench', tools: ['spawn_worker'] };
  const parent = idIn(await send(bench, system, { method: 'POST', path: '/api/contexts', body: { config } }));
  const path = `/api/contexts/${parent}/messages`;
  const cpu = cpuSeconds(worker.pid);
  const began = performance.now();
  await send(bench, system, { method: 'POST', path, body: { content: SCRIPT } });
  await untilEnded(bench, system, [parent]);
  const took = (performance.now() - began) / 1_000;
  const [row] = await system.sql<{ n: number }[]>`
    select count(*)::int as n from jobs j join jobs p on p.id = j.parent_job_id
    where p.context_id = ${parent} and j.status = 'completed'`;
  if (row?.n !== CHILDREN) throw new Error(`${row?.n ?? 0} children completed.`);
  return { took, cpu: cpuSeconds(worker.pid) - cpu };
}

async function send({ load }: Bench, { url }: System, request: Request): Promise<Answer> {
  const [answer] = await load.ask('send', { url, requests: [request], atOnce: 1, gapMs: 0 });
  if (answer === undefined) throw new Error('A request had no response.');
  return answer;
}

function idIn({ body }: Answer): string {
  if (typeof body === 'object' && body !== null && 'id' in body && typeof body.id === 'string') return body.id;
  throw new Error('A context was created without an id.');
}
