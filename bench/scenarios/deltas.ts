/** 50 answers at once with 100 deltas each, each streamed by one client. */
import { setTimeout as pause } from 'node:timers/promises';
import { postAll, untilEnded, withSystems, type Bench, type Scenario } from '../bench.ts';
import { alone, median, percentile, type Figure } from '../figures.ts';
import type { Delivery, LoadProtocol } from '../load/protocol.ts';
import type { Running } from '../process.ts';
import { startCompanion } from '../talk.ts';
import type { System } from '../system.ts';
import { cpuSeconds } from '../usage.ts';

const ANSWERS = 50;
const WORDS = 100;
const WORD_MS = 20;
/** A client that connects late may receive the first words in one snapshot. */
const DELTA_EVENTS = ['ContentDelta', 'ContentSnapshot'];
const TIMEOUT_MS = 10_000;

type Round = { words: number; events: number; workerCpu: number; apiCpu: number; lateMs: number[] };

export const deltas: Scenario = {
  about: '50 answers of 100 deltas each, all streamed to clients',
  run: (bench) =>
    withSystems(bench, ['nightshift'], async ([system]) => {
      if (system === undefined) return [];
      const worker = await system.startWorker(100);
      const rounds: Round[] = [];
      for (let count = 0; count <= bench.rounds; count += 1) {
        const round = await measure(bench, system, worker);
        bench.say(`${round.words} words in ${round.events} events`);
        if (count > 0) rounds.push(round);
      }
      return figuresOf(rounds);
    }),
};

async function measure(bench: Bench, system: System, worker: Running): Promise<Round> {
  const contexts = await system.createContexts(ANSWERS);
  const paths = contexts.map((id) => `/api/contexts/${id}/events?after=0`);
  const clients = startCompanion<LoadProtocol>('load/main.ts');
  try {
    await clients.ask('listen', { url: system.url, paths, events: DELTA_EVENTS });
    await bench.provider.ask('play', { steps: 1, tokens: WORDS, tokenMs: WORD_MS });
    const processes = [worker.pid, system.api.pid];
    const before = processes.map(cpuSeconds);
    const posted = await postAll(bench, system, contexts, ANSWERS);
    await untilEnded(bench, system, contexts);
    const [workerCpu = 0, apiCpu = 0] = processes.map((pid, index) => cpuSeconds(pid) - (before[index] ?? 0));
    const deliveries: Delivery[] = [];
    for (let waited = 0; wordsOf(deliveries) < ANSWERS * WORDS && waited < TIMEOUT_MS; waited += 50) {
      deliveries.push(...(await clients.ask('takeDeliveries', null)));
      await pause(50);
    }
    const first = posted.map(({ sentAt }, stream) => {
      const at = deliveries.find((one) => one.stream === stream)?.at ?? Number.NaN;
      return at - sentAt;
    });
    return { words: wordsOf(deliveries), events: deliveries.length, workerCpu, apiCpu, lateMs: first };
  } finally {
    await clients.end();
  }
}

/** Distinct words at each client. */
function wordsOf(deliveries: readonly Delivery[]): number {
  const words = deliveries.flatMap(({ stream, text }) =>
    (text.match(/word\d+ /g) ?? []).map((word) => `${stream} ${word}`),
  );
  return new Set(words).size;
}

function figuresOf(rounds: readonly Round[]): Figure[] {
  const of = (value: (round: Round) => number): number => median(rounds.map(value));
  const late = rounds.flatMap(({ lateMs }) => lateMs);
  const each = (cpu: number): number => (cpu / (ANSWERS * WORDS)) * 1_000_000;
  return [
    alone('deltas received by the clients of 50 answers of 100', '', Math.min(...rounds.map(({ words }) => words)), {
      of: 'value',
      is: 'at least',
      bound: ANSWERS * WORDS,
    }),
    alone(
      'events that carried them',
      '',
      of(({ events }) => events),
    ),
    alone('from POST to the first delta, 50 at once, p50', 'ms', percentile(late, 0.5)),
    alone('from POST to the first delta, 50 at once, p99', 'ms', percentile(late, 0.99)),
    alone(
      'a delta',
      'µs CPU of the worker',
      of(({ workerCpu }) => each(workerCpu)),
    ),
    alone(
      'a delta',
      'µs CPU of the API',
      of(({ apiCpu }) => each(apiCpu)),
    ),
  ];
}
