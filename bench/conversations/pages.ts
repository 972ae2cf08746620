/** Pages of messages on a context's active branch: the first, the middle and the last. */
import { writePlace } from '../../src/api/request/message-place.ts';
import type { Bench } from '../bench.ts';
import type { Long } from '../nightshift/history.ts';
import type { System } from '../system.ts';
import type { Operation, Samples } from './samples.ts';

const READS = 40;
const LIMIT = 50;
/** The shortest history that fills a page. */
const FROM = 1_000;

const WHERE: Record<string, (long: Long) => string> = {
  first: () => '',
  middle: ({ branch, length }) => `&cursor=${writePlace({ seq: Math.floor(length / 2), queue: null }, branch)}`,
  last: () => '&order=desc',
};

const operations = new Map<string, Operation>();

export async function readPages({ load }: Bench, { url }: System, long: Long, samples: Samples) {
  for (const [which, cursor] of Object.entries(WHERE)) {
    const path = `/api/contexts/${long.contextId}/messages?limit=${LIMIT}${cursor(long)}`;
    const request = { method: 'GET' as const, path, body: null };
    const requests = Array.from({ length: READS }, () => request);
    const answers = await load.ask('send', { url, requests, atOnce: 1, gapMs: 0 });
    samples.add(
      operationOf(which, long.depth),
      long.length,
      answers.map(({ ms }) => ms),
    );
  }
}

function operationOf(which: string, depth: number): Operation {
  const on = depth === 0 ? 'main' : `a branch at depth ${depth}`;
  const name = `the ${which} page of ${LIMIT}, ${on}`;
  const known = operations.get(name) ?? { name, unit: 'ms', from: FROM, bound: 1.5 };
  operations.set(name, known);
  return known;
}
