// Calls of the client: their arguments and what they answer. Compiles without the types of Node.
import {
  NightshiftError,
  createClient,
  isFinished,
  outputSchema,
  textMaker,
  type Client,
  type Job,
  type StreamEvent,
  type WorkerWithJob,
} from 'nightshift/client';
import { z } from 'zod';

const client: Client = createClient({ url: 'http://127.0.0.1:3000', apiKey: 'a key', retries: 2 });

export async function jobs(): Promise<string | null> {
  const worker: WorkerWithJob = await client.workers.create({ name: 'ada', input: 'say: hello' });
  const without = await client.workers.create({ name: 'bea' });
  // @ts-expect-error: without an input there may be no job
  const id: string = without.job_id;
  const job = await client.jobs.wait(worker.job_id, { timeoutMs: 1_000, until: 'waiting' });
  const plain: Job['status'] = job.status;
  // @ts-expect-error: a status that does not exist
  if (job.status === 'done') return plain;
  // @ts-expect-error: there may be no output
  const text: string = job.output.text;
  for await (const one of client.jobs.list({ status: 'failed', limit: 10 })) if (isFinished(one)) return one.id;
  // @ts-expect-error: a filter that does not exist
  client.jobs.list({ state: 'failed' });
  const all: Job[] = await client.jobs.list().all();
  return all[0]?.error?.message ?? id + text;
}

const Weather = z.object({ city: z.string(), celsius: z.number() });

export async function structured(context: string): Promise<number | undefined> {
  const run = await client.contexts.run(context, { input: 'How warm is it?', output: Weather });
  const warm: number | undefined = run.output?.data?.celsius;
  // @ts-expect-error: the answer has no such member
  const cold: unknown = run.output?.data?.fahrenheit;
  const named = await client.jobs.wait<{ city: string }>(run.id);
  const city: string | undefined = named.output?.data?.city;
  await client.contexts.send(context, { content: 'And now?', output_schema: outputSchema(Weather), priority: 1 });
  return city === undefined && cold === undefined ? undefined : warm;
}

export async function events(context: string): Promise<string[]> {
  const take = textMaker();
  const texts: string[] = [];
  const seen = (event: StreamEvent): void => {
    if (event.event === 'JobFinished') texts.push(event.data.status);
    // @ts-expect-error: not every event has a status
    texts.push(event.data.status);
  };
  for await (const event of client.contexts.events(context, { after: 0, onConnection: (lost) => void lost?.retryMs })) {
    seen(event);
    texts.push(take(event)?.text ?? '');
  }
  return texts;
}

export async function answers(context: string, signal: AbortSignal): Promise<string> {
  try {
    await client.contexts.run(context, {
      job_id: 'an id',
      tools: { read_screen: async (input, call) => ({ content: `${JSON.stringify(input)} ${call.job_id}` }) },
      onQuestion: ({ question, choices }) => choices?.[0] ?? question,
      onApproval: ({ name }) => (name === 'remember' ? 'approve' : { decision: 'deny', reason: 'Not now.' }),
      signal,
    });
    // @ts-expect-error: a decision that does not exist
    await client.contexts.run(context, { input: 'hello', onApproval: () => 'maybe' });
    const tree = await client.request('GET', '/api/workers/{id}/tree', { path: { id: 'ada' }, query: { limit: 2 } });
    // @ts-expect-error: the operation has no such path
    await client.request('GET', '/api/workers/{id}/trees', { path: { id: 'ada' } });
    // @ts-expect-error: the path needs an id
    await client.request('GET', '/api/workers/{id}', {});
    return JSON.stringify(tree);
  } catch (error) {
    if (!(error instanceof NightshiftError)) throw error;
    // @ts-expect-error: a code that does not exist
    if (error.code === 'not_there') return '';
    return error.code === 'not_found' ? (error.param ?? '') : (error.errors[0]?.path ?? '');
  }
}
