/** 5,000 clients of one API process stream 50 answers of 100 deltas per second; every delta must arrive. */
import { setTimeout as pause } from 'node:timers/promises';
import type { SubscribersProtocol, Stored, Comparison } from '../subscribers/protocol.ts';
import { postAll, untilEnded, withSystems, type Bench, type Scenario } from '../bench.ts';
import { alone, atLeast, percentile, type Figure } from '../figures.ts';
import { figureIn } from '../soak/watch.ts';
import type { System } from '../system.ts';
import { startCompanion, type Companion } from '../talk.ts';
import { cpuSeconds, peakMb } from '../usage.ts';

const ANSWERS = 50;
const CLIENTS = 5_000;
const WORDS = 2_500;
const WORD_MS = 10;
/** Part of the 25 seconds of an answer, measured after all have started. */
const MEASURED_MS = 20_000;
/** The number of client processes; they must not be the bottleneck. */
const CROWDS = 2;
const TIMEOUT_MS = 60_000;

type Crowds = readonly Companion<SubscribersProtocol>[];

/** Measured while all answers stream, except `made` (the whole time) and `peak`. */
type Measured = {
  /** Per second. */
  made: number;
  events: number;
  pieces: number;
  /** CPU seconds per second, by process. */
  cpu: { api: number; worker: number; crowds: number[]; provider: number };
  delayMs: number;
  delayP99Ms: number;
  peak: number;
};

export const subscribers: Scenario = {
  about: '5,000 clients of one API process stream 50 answers of 100 deltas per second',
  run: (bench) =>
    withSystems(bench, ['nightshift'], async ([system]) => {
      if (system === undefined) return [];
      const worker = await system.startWorker(ANSWERS);
      const contexts = await system.createContexts(ANSWERS);
      const crowds = Array.from({ length: CROWDS }, () => startCompanion<SubscribersProtocol>('subscribers/main.ts'));
      try {
        const each = CLIENTS / ANSWERS / CROWDS;
        const open = await sum(crowds, (crowd) => crowd.ask('listen', { url: system.url, contexts, each }));
        bench.say(`${open} streams are open`);
        const measured = await speak(bench, system, worker.pid, crowds, contexts);
        const approval = await judge(bench, system, crowds);
        const delays = (await Promise.all(crowds.map((crowd) => crowd.ask('delays', null)))).flat();
        return figuresOf(open, measured, approval, delays);
      } finally {
        for (const crowd of crowds) await crowd.end();
      }
    }),
};

async function sum(crowds: Crowds, value: (crowd: Companion<SubscribersProtocol>) => Promise<number>): Promise<number> {
  return (await Promise.all(crowds.map(value))).reduce((all, one) => all + one, 0);
}

async function speak(
  bench: Bench,
  system: System,
  worker: number,
  crowds: Crowds,
  contexts: readonly string[],
): Promise<Measured> {
  const { provider } = bench;
  const pids = [system.api.pid, worker, provider.pid, ...crowds.map(({ pid }) => pid)];
  await provider.ask('play', { steps: 1, tokens: WORDS, tokenMs: WORD_MS, stamped: true });
  const began = performance.now();
  await postAll(bench, system, contexts, ANSWERS);
  await provider.ask('untilOpen', ANSWERS);
  const before = { at: performance.now(), cpu: pids.map(cpuSeconds), ...(await look(system, crowds)) };
  await pause(MEASURED_MS);
  const after = { at: performance.now(), cpu: pids.map(cpuSeconds), ...(await look(system, crowds)) };
  await untilEnded(bench, system, contexts);
  const took = (performance.now() - began) / 1_000;
  const seconds = (after.at - before.at) / 1_000;
  const [api = 0, runner = 0, model = 0, ...listeners] = after.cpu.map(
    (spent, index) => (spent - (before.cpu[index] ?? 0)) / seconds,
  );
  return {
    made: (ANSWERS * WORDS) / took,
    events: (after.events - before.events) / seconds,
    pieces: (after.pieces - before.pieces) / seconds,
    cpu: { api, worker: runner, crowds: listeners, provider: model },
    delayMs: after.delayMs,
    delayP99Ms: after.delayP99Ms,
    peak: peakMb(system.api.pid),
  };
}

type Look = { events: number; pieces: number; delayMs: number; delayP99Ms: number };

/** Event loop delays are since the last sample. */
async function look({ url }: System, crowds: Crowds): Promise<Look> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const figure = (name: string): number => figureIn(text, name, null) ?? Number.NaN;
  return {
    events: figure('nightshift_stream_events_total'),
    pieces: await sum(crowds, (crowd) => crowd.ask('pieces', null)),
    delayMs: figure('nodejs_eventloop_lag_p50_seconds') * 1_000,
    delayP99Ms: figure('nodejs_eventloop_lag_p99_seconds') * 1_000,
  };
}

/** Resolves when every client has received everything, or after a timeout. */
async function judge(bench: Bench, { sql }: System, crowds: Crowds): Promise<Comparison> {
  const rows = await sql<{ id: string; head: number; text: string }[]>`
    select c.id, c.head_seq::int as head, m.content->0->>'text' as text
    from contexts c join messages m on m.context_id = c.id and m.role = 'assistant'`;
  const stored: Stored = Object.fromEntries(rows.map(({ id, head, text }) => [id, { head, text }]));
  const until = performance.now() + TIMEOUT_MS;
  for (;;) {
    const comparisons = await Promise.all(crowds.map((crowd) => crowd.ask('approval', stored)));
    const of = (name: keyof Comparison): number => comparisons.reduce((all, one) => all + one[name], 0);
    const all = { whole: of('whole'), gapless: of('gapless'), dropped: of('dropped') };
    if ((all.whole === CLIENTS && all.gapless === CLIENTS) || performance.now() > until) return all;
    bench.signal.throwIfAborted();
    await pause(100);
  }
}

function figuresOf(open: number, measured: Measured, approval: Comparison, delays: readonly number[]): Figure[] {
  const { made, events, pieces, cpu } = measured;
  return [
    alone('clients that stream 50 answers, on one API process', '', open, atLeast(CLIENTS)),
    alone('deltas from the models', 'per second', made),
    alone('clients with the complete text', '', approval.whole, atLeast(CLIENTS)),
    alone('clients without missing entries', '', approval.gapless, atLeast(CLIENTS)),
    alone('dropped clients', '', approval.dropped, { of: 'value', is: 'at most', bound: 0 }),
    alone('events received', 'per second', events),
    alone('chunks received', 'per second', pieces),
    alone('from the model to the client, p50', 'ms', percentile(delays, 0.5)),
    alone('from the model to the client, p99', 'ms', percentile(delays, 0.99)),
    alone('CPU of the API process', 's per second', cpu.api),
    alone('CPU of the worker process', 's per second', cpu.worker),
    alone('CPU of the busiest client process', 's per second', Math.max(...cpu.crowds)),
    alone('CPU of the provider', 's per second', cpu.provider),
    alone('maximum memory of the API process', 'MB', measured.peak),
    alone('delay of its event loop, p50', 'ms', measured.delayMs),
    alone('delay of its event loop, p99', 'ms', measured.delayP99Ms),
  ];
}
