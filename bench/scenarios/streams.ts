/** 5,000 clients that follow 500 contexts over one API process: its memory, and the latency. */
import { setTimeout as pause } from 'node:timers/promises';
import { postAll, untilEnded, withSystems, type Bench, type Scenario } from '../bench.ts';
import { percentile, type Figure } from '../figures.ts';
import { startCompanion, type Companion } from '../talk.ts';
import type { Delivery, LoadProtocol } from '../load/protocol.ts';
import type { System } from '../system.ts';
import { residentMb } from '../usage.ts';

const CONTEXTS = 500;
const CLIENTS = 5_000;
const INPUTS = 100;
const GAP_MS = 20;
const TIMEOUT_MS = 60_000;

export const streams: Scenario = {
  about: '5,000 stream clients on one API process',
  run: (bench) =>
    withSystems(bench, ['nightshift'], async ([system]) => {
      if (system === undefined) return [];
      await system.startWorker(100);
      const contexts = await system.createContexts(CONTEXTS);
      const paths = Array.from(
        { length: CLIENTS },
        (_, index) => `/api/contexts/${contexts[index % CONTEXTS]}/events?after=0`,
      );
      // A separate process, so that the streams end with the scenario.
      const clients = startCompanion<LoadProtocol>('load/main.ts');
      try {
        const open = await clients.ask('listen', { url: system.url, paths, events: ['JobFinished'] });
        bench.say(`${open} streams are open`);
        const delays = await measure(bench, system, clients, contexts.slice(0, INPUTS));
        return figuresOf(open, residentMb(system.api.pid), delays);
      } finally {
        await clients.end();
      }
    }),
};

/** The time from the POST of an input to the end of its job at each client. */
async function measure(
  bench: Bench,
  system: System,
  clients: Companion<LoadProtocol>,
  contexts: readonly string[],
): Promise<number[]> {
  await bench.provider.ask('play', { steps: 1 });
  const posted = await postAll(bench, system, contexts, 1, GAP_MS);
  await untilEnded(bench, system, contexts);
  const expected = (CLIENTS / CONTEXTS) * contexts.length;
  const deliveries: Delivery[] = [];
  for (let waited = 0; deliveries.length < expected && waited < TIMEOUT_MS; waited += 50) {
    await pause(50);
    deliveries.push(...(await clients.ask('takeDeliveries', null)));
  }
  bench.say(`${deliveries.length} of ${expected} deliveries`);
  return deliveries.map(({ stream, at }) => at - (posted[stream % CONTEXTS]?.sentAt ?? Number.NaN));
}

function figuresOf(open: number, megabytes: number, delays: readonly number[]): Figure[] {
  const line = (name: string, unit: string, nightshift: number, goal: Figure['goal'] = null): Figure => ({
    name,
    unit,
    nightshift,
    baseline: null,
    goal,
  });
  return [
    line('streams open on one API process', '', open, { of: 'value', is: 'at least', bound: CLIENTS }),
    line('memory of the API process', 'MB', megabytes),
    line('from POST to JobFinished at every client, p50', 'ms', percentile(delays, 0.5)),
    line('from POST to JobFinished at every client, p99', 'ms', percentile(delays, 0.99)),
  ];
}
