// A client of the API over real HTTP. It expects the API's own shapes; test/api checks that answers have them.
import { setTimeout as sleep } from 'node:timers/promises';
import type { InboxItem } from '../../../src/api/schemas/jobs/approval.ts';
import type { Context } from '../../../src/api/schemas/contexts/context.ts';
import type { Job, Receipt } from '../../../src/api/schemas/jobs/job.ts';
import type { Accepted, Message } from '../../../src/api/schemas/messages/message.ts';
import type { WorkerConfig } from '../../../src/core/workers/settings.ts';
import { isFinished } from '../../../src/core/run/job.ts';

/** An answer with an unexpected status. */
export class HttpFailure extends Error {
  override name = 'HttpFailure';
  readonly status: number;
  constructor(status: number, text: string) {
    super(`${status}: ${text}`);
    this.status = status;
  }
}

/** Repeats a request while the API is unavailable, as clients do: with a short lease, it is on a busy machine. */
export async function insist<T>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof HttpFailure) || error.status !== 503 || tries === 60) throw error;
      await sleep(1_000);
    }
  }
}

export type Client = {
  createContext(config: WorkerConfig): Promise<Context>;
  /** With a key, repeated under the same key, it is posted once. */
  post(contextId: string, content: string, key?: string): Promise<Accepted>;
  job(jobId: string, waitMs?: number): Promise<Job>;
  /** Resolves with the job once it has ended. */
  ended(jobId: string): Promise<Job>;
  cancel(jobId: string, waitMs: number): Promise<Receipt>;
  /** All of them, page by page. */
  messages(contextId: string): Promise<Message[]>;
  /** The first page of calls that wait for approval, over all contexts. */
  approvals(): Promise<InboxItem[]>;
  approve(contextId: string, approval: object): Promise<{ resolved: string[] }>;
  /** The status of a GET. */
  status(path: string): Promise<number>;
};

export function openClient(url: string): Client {
  const ask = async <T>(method: 'GET' | 'POST', path: string, body?: object, key?: string): Promise<T> => {
    const response = await fetch(`${url}${path}`, {
      method,
      signal: AbortSignal.timeout(90_000),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      },
    });
    const text = await response.text();
    if (!response.ok) throw new HttpFailure(response.status, text);
    return JSON.parse(text) as T;
  };
  const client: Client = {
    createContext: (config) => ask('POST', '/api/contexts', { config }),
    post: (contextId, content, key) => ask('POST', `/api/contexts/${contextId}/messages`, { content }, key),
    job: (jobId, waitMs = 0) => ask('GET', `/api/jobs/${jobId}?wait_ms=${waitMs}`),
    async ended(jobId) {
      for (let asked = 0; asked < 4; asked += 1) {
        const job = await client.job(jobId, 30_000);
        if (isFinished(job.status)) return job;
      }
      throw new Error(`job ${jobId} does not end`);
    },
    cancel: (jobId, waitMs) => ask('POST', `/api/jobs/${jobId}/cancel`, { wait_ms: waitMs }),
    approvals: async () => (await ask<{ data: InboxItem[] }>('GET', '/api/approvals?kind=approval&limit=200')).data,
    approve: (contextId, approval) => ask('POST', `/api/contexts/${contextId}/tools/approve`, approval),
    async messages(contextId) {
      const all: Message[] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const page: { data: Message[]; next_cursor: string | null } = await ask(
          'GET',
          `/api/contexts/${contextId}/messages?limit=25${cursor === '' ? '' : `&cursor=${cursor}`}`,
        );
        all.push(...page.data);
        cursor = page.next_cursor;
      }
      return all;
    },
    async status(path) {
      const response = await fetch(`${url}${path}`, { signal: AbortSignal.timeout(30_000) });
      await response.arrayBuffer();
      return response.status;
    },
  };
  return client;
}
