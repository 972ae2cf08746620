// The application over a database of its own, called by `inject`. Every answer is checked against the OpenAPI document:
// an answer that does not match it fails the test.
import type { Figure } from '../../src/core/figures.ts';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { v7 } from 'uuid';
import { createApp } from '../../src/api/server/app.ts';
import type { About } from '../../src/api/server/about.ts';
import { openCatalog, type CheckInput } from '../../src/api/server/catalog.ts';
import type { App } from '../../src/api/server/ports.ts';
import type { Bus } from '../../src/bus/bus.ts';
import { localBus } from '../../src/bus/local.ts';
import { localRates } from '../../src/bus/request-rates.ts';
import { aboutOf } from '../../src/platform/about.ts';
import type { CommandPorts } from '../../src/commands/ports.ts';
import { parseEnvironment } from '../../src/config/config.ts';
import type { Environment } from '../../src/config/environment.ts';
import { LIMITS } from '../../src/core/limits.ts';
import { NO_OIDC_SETTINGS, type OidcSettings } from '../../src/core/access/oidc.ts';
import { NO_SERVERS } from '../../src/tools/registry/servers.ts';
import { boundedContent } from '../../src/tools/run/result.ts';
import type { Ids } from '../../src/core/ids.ts';
import type { Role } from '../../src/core/workers/settings.ts';
import { openStreamHub } from '../../src/events/stream-hub.ts';
import { openDatabase, type Database, type DatabaseOptions } from '../../src/db/connection/client.ts';
import type { LeaseTimes } from '../../src/db/processes/processes.ts';
import type { WakeUp } from '../../src/queue/wake-queue.ts';
import { createTestDatabase } from '../services/database.ts';
import { withLogins } from '../services/logins.ts';
import { tagOf } from '../services/statements.ts';
import { recording, type Recorded } from '../telemetry/recording.ts';
import { webhooksWith } from '../services/webhooks.ts';
import { explainWith } from './explain-with.ts';
import { contractOf, type Contract } from './contract.ts';
import { referenceFolder } from '../../src/package-files.ts';

export type Answer = { status: number; headers: Record<string, string>; body: Body };
/** JSON whose shape a test knows; `expect` checks whether it was right. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Body = any;

export type Api = {
  app: App;
  database: Database;
  databaseUrl: string;
  bus: Bus;
  commands: CommandPorts;
  contract: Contract;
  /** The wake-ups that were sent. */
  wakeUps: WakeUp[];
  queue: { reachable: boolean };
  /** Texts of the statements since this was last emptied. */
  statements: string[];
  /** What the process would send over OTLP now. */
  sentFigures(): Promise<Figure[]>;
  spans: Recorded[];
  /** Lines of the log. */
  lines: Record<string, unknown>[];
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** A worker; its context's id is `context_id`. */
  worker(config?: object): Promise<Body>;
  close(): Promise<void>;
};

/** No process dies here unless a test makes it: rows of processes live for a minute without a heartbeat. */
export const TIMES: LeaseTimes = { heartbeatTimeoutMs: 60_000, leaseMs: 120_000 };

/** Not counted: an API without keys asks twice a second whether one was made, however many requests come. */
const KEY_CHECK = 'api_keys.find_any';

/** A request is not cut off, however slow the machine is, unless a test says so. */
const PATIENT_MS = '60000';

/** Of an installation without tools and servers of its own. */
export const ABOUT: About = {
  ...aboutOf({
    config: parseEnvironment({}),
    limits: {},
    prices: new Map(),
    providers: ['simulated'],
    builtIn: [],
    own: [],
    servers: NO_SERVERS,
  }),
  mode: 'laptop',
};

export const ids: Ids = { next: <T extends string>() => v7() as T };

/** Of statements: reads and writes, without those of the transaction around them. */
export function isQuery(text: string): boolean {
  return text !== 'begin' && text !== 'commit' && !text.startsWith('select set_config(');
}

/** The database as a login sees it that row security limits; null: the API uses the login of the tests. */
type ApiUrl = (databaseUrl: string) => Promise<string | null>;

/** `NIGHTSHIFT_TEST_ROW_SECURITY`: all tests of the API, as the login of API processes. */
const ofDepth: ApiUrl = async (databaseUrl) =>
  process.env['NIGHTSHIFT_TEST_ROW_SECURITY'] === 'on' ? (await withLogins(databaseUrl)).api : null;

/**
 * `databaseUrl`: instead of a database of its own. `roles`, `checkInput`, `oidcSettings`: of the config file. The
 * application, not what the test does itself, uses `apiUrl`.
 */
export async function openApi(
  env: Environment = {},
  databaseUrl?: string,
  roles: ReadonlyMap<string, Role> = new Map(),
  checkInput: CheckInput = async () => null,
  consoleFolder: string | null = null,
  about: About = ABOUT,
  apiUrl: ApiUrl = ofDepth,
  oidcSettings: OidcSettings = NO_OIDC_SETTINGS,
): Promise<Api> {
  const own = databaseUrl === undefined ? await createTestDatabase() : null;
  const statements: string[] = [];
  const url = databaseUrl ?? own?.url ?? '';
  const options: DatabaseOptions = {
    max: 5,
    hook: (text) => void (tagOf(text) === KEY_CHECK || statements.push(text)),
  };
  const database = own === null ? openDatabase(url, options) : own.open(options);
  const limitedUrl = await apiUrl(url);
  const limited = limitedUrl === null ? null : openDatabase(limitedUrl, { ...options, namesTenant: true });
  const ofApp = limited ?? database;
  const bus = localBus();
  const wakeUps: WakeUp[] = [];
  const queue = { reachable: true };
  const wakeQueue = {
    notify: async (notify: WakeUp) => void wakeUps.push(notify),
    isReachable: async () => queue.reachable,
    close: async () => undefined,
  };
  const commands: CommandPorts = {
    database,
    wakeQueue,
    bus,
    ids,
    times: TIMES,
    stopGraceMs: 5_000,
    boundResult: (content) => boundedContent(content, LIMITS.toolResult),
  };
  const { logger, lines } = listeningLogger();
  const config = { ...parseEnvironment({ NIGHTSHIFT_REQUEST_MS: PATIENT_MS, ...env }), oidcSettings };
  const traced = recording();
  const sources: (() => Promise<readonly Figure[]>)[] = [];
  const app = await createApp({
    ...commands,
    database: ofApp,
    config,
    logger,
    streamHub: openStreamHub(ofApp, bus),
    catalog: openCatalog(ofApp, TIMES, {
      fileRoles: roles,
      checkInput,
      parameters: [],
      defaultModel: config.defaultModel,
    }),
    explain: explainWith(config.defaultModel, roles),
    about,
    webhooks: webhooksWith(config.secretKeys),
    consoleFolder,
    referenceFolder: referenceFolder(),
    mount: null,
    requestRates: localRates(),
    telemetry: { tracing: traced.tracing, addFigures: (read) => void sources.push(read) },
  });
  await app.ready();
  const contract = contractOf(() => app.swagger());
  const call: Api['call'] = async (method, path, body, headers = {}) => {
    const response = await app.inject({
      method: method as 'GET',
      url: path,
      headers: {
        host: 'localhost',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const answer = {
      status: response.statusCode,
      headers: response.headers as Record<string, string>,
      body: parse(response.body, response.headers['content-type'] ?? ''),
    };
    contract.check(method, path, answer);
    return answer;
  };
  return {
    app,
    database,
    databaseUrl: url,
    bus,
    commands,
    contract,
    wakeUps,
    queue,
    statements,
    spans: traced.spans,
    sentFigures: async () => (await Promise.all(sources.map((read) => read()))).flat(),
    lines,
    ...callsBy(call),
    async close() {
      await app.close();
      await limited?.close();
      await database.close();
      await bus.close();
      await own?.drop();
    },
  };
}

/** The same API, called with a key. */
export function withKey(api: Api, key: string): Api {
  return {
    ...api,
    ...callsBy((method, path, body, headers) =>
      api.call(method, path, body, { authorization: `Bearer ${key}`, ...headers }),
    ),
  };
}

function callsBy(call: Api['call']): Pick<Api, 'call' | 'get' | 'post' | 'worker'> {
  return {
    call,
    get: (path, headers) => call('GET', path, undefined, headers),
    post: (path, body, headers) => call('POST', path, body, headers),
    async worker(config = {}) {
      const { body } = await call('POST', '/api/workers', { name: 'w', config });
      return body;
    },
  };
}

function parse(text: string, type: string): Body {
  return text !== '' && /json/.test(type) ? JSON.parse(text) : text;
}

function listeningLogger() {
  const lines: Record<string, unknown>[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _, done) {
      lines.push(JSON.parse(chunk.toString()));
      done();
    },
  });
  return { logger: pino({ level: 'trace' }, stream), lines };
}
