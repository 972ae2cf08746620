/** Exports and imports a context of 10,000 messages and measures time and memory. */
import { setTimeout as pause } from 'node:timers/promises';
import { withSystems, type Bench, type Scenario } from '../bench.ts';
import { alone, median } from '../figures.ts';
import { giveHistory } from '../nightshift/history.ts';
import type { System } from '../system.ts';
import { monotonic } from '../talk.ts';
import { residentMb } from '../usage.ts';

const MESSAGES = 10_000;
const LOOK_MS = 20;

type Measured = { seconds: number; grownMb: number; megabytes: number };

export const transfer: Scenario = {
  about: 'export and import of a context of 10,000 messages',
  run: (bench) =>
    withSystems(bench, ['nightshift'], async ([system]) => {
      if (system === undefined) return [];
      const worker = await system.startWorker(1);
      const [contextId = ''] = await system.createContexts(1);
      await worker.end();
      await giveHistory(system.sql, contextId, MESSAGES, 0);
      const out: Measured[] = [];
      const back: Measured[] = [];
      for (let round = 0; round <= bench.rounds; round += 1) {
        let file = '';
        const exported = await measure(bench, system, async () => {
          file = await ask(system, `/api/contexts/${contextId}/export?format=json`);
          return file;
        });
        const imported = await measure(bench, system, async () => {
          await ask(system, '/api/contexts/import', file);
          return file;
        });
        bench.say(`${exported.megabytes.toFixed(1)} MB exported and imported`);
        if (round === 0) continue;
        out.push(exported);
        back.push(imported);
      }
      const of = (all: Measured[], value: (one: Measured) => number): number => median(all.map(value));
      return [
        alone(
          'the file of 10,000 messages',
          'MB',
          of(out, ({ megabytes }) => megabytes),
        ),
        alone(
          'its export',
          's',
          of(out, ({ seconds }) => seconds),
        ),
        alone(
          'its import',
          's',
          of(back, ({ seconds }) => seconds),
        ),
        alone(
          'memory growth of the API process, export',
          'MB',
          of(out, ({ grownMb }) => grownMb),
        ),
        alone(
          'memory growth of the API process, import',
          'MB',
          of(back, ({ grownMb }) => grownMb),
        ),
      ];
    }),
};

/** `work` returns the file. */
async function measure({ signal }: Bench, { api }: System, work: () => Promise<string>): Promise<Measured> {
  const before = residentMb(api.pid);
  let peak = before;
  const done = new AbortController();
  const watching = (async () => {
    while (!done.signal.aborted && !signal.aborted) {
      peak = Math.max(peak, residentMb(api.pid));
      await pause(LOOK_MS);
    }
  })();
  try {
    const began = monotonic();
    const file = await work();
    const seconds = (monotonic() - began) / 1_000;
    return {
      seconds,
      grownMb: Math.max(peak, residentMb(api.pid)) - before,
      megabytes: Buffer.byteLength(file) / 2 ** 20,
    };
  } finally {
    done.abort();
    await watching;
  }
}

async function ask({ url }: System, path: string, body: string | null = null): Promise<string> {
  const sent = body === null ? {} : { method: 'POST', body, headers: { 'content-type': 'application/json' } };
  const response = await fetch(`${url}${path}`, sent);
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text.slice(0, 500)}`);
  return text;
}
