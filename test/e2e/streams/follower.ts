// A program that uses only the typed client while the API that serves it is killed and comes back: a Node process runs
// it, and so does a page of a browser.
import { createClient, textMaker, type Job } from '../../../src/client/index.ts';

export type Followed = {
  /** Numbers of events as they came over all connections, and as one connection delivers them. */
  numbers: number[];
  replayed: number[];
  /** The first answer, assembled before the API was killed, and after it was back. */
  before: string;
  after: string;
  /** The second one, assembled from its deltas. */
  second: string;
  /** The results of `jobs.wait` for both jobs; the wait for the first spans the restart. */
  jobs: Job[];
};

/** It runs until it is stopped: the API is always down in the middle of it. */
const ENDLESS = 'tokens: 20000 over 900s';
const ENOUGH = 200;

/** `restart` kills the API, and resolves once it is back at its address. */
export async function follow(url: string, restart: () => Promise<void>): Promise<Followed> {
  const client = createClient({ url });
  const config = { model: 'simulated/test' };
  const { id, context_id: contextId } = await client.workers.create({ name: 'ada', config });
  const first = (await client.workers.send(id, ENDLESS)).job_id;
  const ended = client.jobs.wait(first);
  let second: string | null = null;
  let restarted: Promise<void> | null = null;
  let [before, after] = ['', ''];
  const numbers: number[] = [];
  const texts = new Map<string, string>();
  const take = textMaker();
  const events = client.contexts.events(contextId, {
    after: 0,
    until: ({ event, data }) => event === 'JobFinished' && data.job_id === second,
  });
  for await (const event of events) {
    if (event.id !== null) numbers.push(event.id);
    const partial = take(event);
    if (partial === null) continue;
    texts.set(partial.message_id, partial.text);
    if (restarted === null && partial.text.length > ENOUGH) {
      before = partial.text;
      restarted = restart();
    } else if (second === null && event.connection > 1 && partial.text.length > before.length) {
      after = partial.text;
      await restarted;
      await client.contexts.interrupt(contextId, { mode: 'keep' });
      second = (await client.workers.send(id, 'think: hm\ntokens: 400')).job_id;
    }
  }
  const jobs = [await ended, await client.jobs.wait(second ?? '')];
  const replayed: number[] = [];
  for await (const event of client.contexts.events(contextId, { after: 0, upto: numbers.at(-1) ?? 0 }))
    if (event.id !== null) replayed.push(event.id);
  return {
    numbers,
    replayed,
    before,
    after,
    second: texts.get(jobs[1]?.output?.message_id ?? '') ?? '',
    jobs,
  };
}
