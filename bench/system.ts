/**
 * A system under test, from outside: an API that accepts inputs, worker processes that answer them with the fake
 * provider, and a database to inspect. Nightshift and the baseline accept the same requests.
 */
import postgres from 'postgres';
import type { Request, Answer, LoadProtocol } from './load/protocol.ts';
import type { Place } from './services.ts';
import type { Running } from './process.ts';
import type { Companion } from './talk.ts';

/** The formats of the fake provider. */
export const PROVIDERS = ['openai', 'anthropic'] as const;
export type ProviderFormat = (typeof PROVIDERS)[number];

/** The options of the processes. */
export type Setting = { place: Place; providerUrl: string; format: ProviderFormat; profile: boolean };

/**
 * `nightshift`: the bundle, which is what the package ships; `source`: the same, run from its sources; `raw`: the
 * baseline without a provider's SDK.
 */
export type SystemName = 'nightshift' | 'source' | 'baseline' | 'raw';

export type SystemKind = {
  name: SystemName;
  prepare(setting: Setting): Promise<void>;
  startApi(setting: Setting, port: number): Promise<Running>;
  startWorker(setting: Setting, concurrency: number): Promise<Running>;
  /** The body that creates a context. */
  newContext(setting: Setting): object;
  /** SQL that returns as `count` how many of the contexts `$1` (ids as JSON text) have an unfinished run. */
  unfinished: string;
  /** SQL that adds a history of `$2` messages to the contexts `$1`. */
  addHistory: string[];
};

export type System = {
  kind: SystemKind;
  place: Place;
  url: string;
  api: Running;
  sql: postgres.Sql;
  startWorker(concurrency: number): Promise<Running>;
  /** The body that creates a context. */
  newContext(): object;
  /** The ids of new, empty contexts. */
  createContexts(count: number): Promise<string[]>;
  /** Stops what it started. */
  stop(): Promise<void>;
};

export async function openSystem(
  kind: SystemKind,
  setting: Setting,
  port: number,
  load: Companion<LoadProtocol>,
): Promise<System> {
  await kind.prepare(setting);
  const running: Running[] = [];
  const api = await kind.startApi(setting, port);
  running.push(api);
  const sql = postgres(setting.place.databaseUrl, {
    max: 1,
    onnotice: () => {},
    // The tables of the baseline are in `public`.
    connection: { search_path: 'nightshift, public' },
  });
  const url = `http://127.0.0.1:${port}`;
  return {
    kind,
    place: setting.place,
    url,
    api,
    sql,
    async startWorker(concurrency) {
      const worker = await kind.startWorker(setting, concurrency);
      running.push(worker);
      return worker;
    },
    newContext: () => kind.newContext(setting),
    async createContexts(count) {
      const body = kind.newContext(setting);
      const create: Request = { method: 'POST', path: '/api/contexts', body };
      const requests = Array.from({ length: count }, () => create);
      const answers = await load.ask('send', { url, requests, atOnce: 8, gapMs: 0 });
      return answers.map(idIn);
    },
    async stop() {
      await sql.end({ timeout: 5 });
      for (const child of running.reverse()) await child.end();
    },
  };
}

function idIn({ body }: Answer): string {
  if (typeof body === 'object' && body !== null && 'id' in body && typeof body.id === 'string') return body.id;
  throw new Error('A context was created without an id.');
}

/** An input whose mark is the id of its context. */
export function inputFor(contextId: string): Request {
  const content = `Look at every room, please. #${contextId}`;
  return { method: 'POST', path: `/api/contexts/${contextId}/messages`, body: { content } };
}
