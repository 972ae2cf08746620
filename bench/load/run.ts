/** Whole runs, as a client makes them: a new worker, its input, and the wait for the end. */
import http from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { monotonic } from '../talk.ts';
import { exchange } from './exchange.ts';
import type { RunTimes, Runs } from './protocol.ts';

type Begun = { jobId: string; contextId: string };
type Worker = { name: string };

const WAIT_MS = 30_000;

async function begin(url: string, worker: Worker, content: string): Promise<Begun> {
  const made = await call(url, 'POST', '/api/workers', { ...worker, input: { content } });
  return { contextId: text(made, 'context_id'), jobId: text(made, 'job_id') };
}

/** Each of `atOnce` clients starts its next run when the last one has ended, after `gapMs`. */
export async function run({ url, config, marks, atOnce, gapMs, end }: Runs): Promise<RunTimes[]> {
  const times: RunTimes[] = [];
  let next = 0;
  const client = async (): Promise<void> => {
    for (let index = next++; index < marks.length; index = next++) {
      const mark = marks[index] ?? '';
      const sentAt = monotonic();
      const begun = await begin(url, { name: mark, ...config }, `Look at every room, please. #${mark}`);
      await (end === 'poll' ? poll(url, begun) : follow(url, begun));
      times[index] = { sentAt, ms: monotonic() - sentAt };
      if (gapMs > 0) await pause(gapMs);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, client));
  return times;
}

async function poll(url: string, { jobId }: Begun): Promise<void> {
  for (;;) {
    const status = text(await call(url, 'GET', `/api/jobs/${jobId}?wait_ms=${WAIT_MS}`), 'status');
    if (status === 'completed') return;
    if (!UNFINISHED.includes(status)) throw new Error(`The job ${jobId} is ${status}.`);
  }
}

/** Of Nightshift and of BullMQ. */
const UNFINISHED = ['queued', 'running', 'waiting', 'active', 'prioritized', 'delayed'];

function follow(url: string, { contextId }: Begun): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = http.get(`${url}/api/contexts/${contextId}/events?after=0`, { agent: false }, (response) => {
      let received = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        received += part;
        if (!/^event: JobFinished$/m.test(received)) return;
        resolve();
        request.destroy();
      });
      response.on('close', () => reject(new Error(`The stream ended without JobFinished: ${received}`)));
      // Destroyed above.
      response.on('error', () => undefined);
    });
    request.on('error', reject);
  });
}

async function call(url: string, method: 'GET' | 'POST', path: string, body: object | null = null): Promise<unknown> {
  const answer = await exchange(url, { method, path, body });
  if (answer.status < 400) return answer.body;
  throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
}

function text(body: unknown, name: string): string {
  const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, name) : null;
  if (typeof value !== 'string') throw new Error(`The response has no field ${name}: ${JSON.stringify(body)}`);
  return value;
}
