/**
 * What `createNightshift` takes and returns. These types are part of the package: they name nothing of Node.js or of a
 * web framework, so that they compile with every version of these.
 */
import type { Client } from '../client/index.ts';
import type { Scope } from '../core/access/scopes.ts';
import type { EnqueueJob, Enqueued, SqlRunner } from './enqueue/types.ts';
import type { OperatorConfig } from '../tools/config/define.ts';

/** A logger such as that of pino: `log.warn({ err }, 'text')`. */
export type NightshiftLogger = {
  /** The least level that is written. */
  level: string;
  /** A logger whose entries also have these fields. */
  child(bindings: object, options?: object): NightshiftLogger;
} & Readonly<Record<'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace', (fields: object, text: string) => void>>;

/** From the gravest to the most detailed; `silent`: nothing. */
export type NightshiftLogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';

/** Every option is checked when it is given; all faults are reported together. */
export type NightshiftOptions = {
  /** Of PostgreSQL 15 or newer: `postgres://…`. Needed, here or as `DATABASE_URL` in `env`. */
  databaseUrl?: string | undefined;
  /**
   * Of the PostgreSQL server itself, where `databaseUrl` leads to a pooler such as PgBouncer: for heartbeats and
   * migrations, which need a session of their own.
   */
  directDatabaseUrl?: string | undefined;
  /**
   * For transactional tools: the same database with a login of your service. `startWorker` rejects if there are such tools
   * and it is missing, leads to another database, or its login has no grant.
   */
  toolsDatabaseUrl?: string | undefined;
  /** `redis://…`. Without Redis only one process may work on the schema. */
  redisUrl?: string | undefined;
  /** The PostgreSQL schema of all tables. Default: `nightshift`. */
  schema?: string | undefined;
  /** Separates installations that share a Redis. Default: `nightshift`. */
  prefix?: string | undefined;
  /** Tools, roles, MCP servers, limits and prices: what `defineConfig` takes. Tools may use objects of your process. */
  config?: OperatorConfig | undefined;
  /** The key of Anthropic: makes models `anthropic/…` available. */
  anthropicApiKey?: string | undefined;
  /** The key of OpenAI: makes models `openai/…` available. */
  openaiApiKey?: string | undefined;
  /** `provider/model`: the model where neither worker nor role sets one. */
  defaultModel?: string | undefined;
  /** Contexts that the worker runs at once. Default: 100. */
  concurrency?: number | undefined;
  /** How long `stop` waits for jobs before it interrupts them, in milliseconds. Default: 25,000. */
  drainMs?: number | undefined;
  /**
   * Every other setting, by its environment variable: `{ NIGHTSHIFT_LEASE_MS: '30000' }`, or `process.env`. Nightshift
   * reads no variable of `process.env` unless it is given. The options above count first.
   */
  env?: Readonly<Record<string, string | undefined>> | undefined;
  /** A level, for JSON lines on standard error, or a logger of yours. Default: `LOG_LEVEL` in `env`, else `warn`. */
  logger?: NightshiftLogLevel | NightshiftLogger | undefined;
  /** Creates or migrates the tables first, as `nightshift migrate` does. Default: false; then they must exist. */
  migrate?: boolean | undefined;
};

/** Who makes a request, as your service knows it. */
export type NightshiftCaller = {
  /** 1 to 64 letters, digits, `_`, `.` or `-`. Nightshift adds a tenant that it does not know. */
  tenant: string;
  /** What the caller may do: `read`, `run`, `configure`, `approve`, `keys`. With a user: only `read`, `run`, `approve`. */
  scopes: readonly Scope[];
  /** The end user: the caller sees and makes only contexts of this user. Leave it out for the whole tenant. */
  user?: string;
};

/** Null: the service does not know the caller, who then needs an API key or a token of Nightshift. */
type Identified = NightshiftCaller | null | Promise<NightshiftCaller | null>;

/** Identifies the caller of a request, or returns null. A method type: functions for requests with more members fit. */
export type Authenticate<Request> = Identifies<Request>['identify'];

type Identifies<Request> = {
  /** Returns the caller; null: the service does not know the caller. */
  identify(request: Request): Identified;
};

/** What requests of Node.js, Express and Fastify have in common. */
export type NodeRequest = {
  /** `GET`, `POST` and others. */
  method?: string | undefined;
  /** The path, with its query. */
  url?: string | undefined;
  /** By their names in lower case. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
};

/** Options of the handlers and the plugin that serve the API. */
export type ApiOptions<Request> = {
  /**
   * Identifies the caller of each request, from its headers or from what your middleware added to it. Without it,
   * requests need keys: of `NIGHTSHIFT_API_KEYS` in `env`, or keys that the API made. An error is answered with 500.
   */
  authenticate?: Authenticate<Request> | undefined;
};

/** Options of handlers without a router. */
export type PathOptions = {
  /** The path under which the API answers, such as `/agents`. Default: the root. */
  path?: string | undefined;
};

/** Answers a request to the API. */
export type FetchHandler = (request: Request) => Promise<Response>;

/** `next`: called for requests outside of the path. Without it they are answered with 404. */
export type NodeHandler = (request: NodeRequest, response: object, next?: (error?: unknown) => void) => void;

/** For `app.register(plugin, { prefix: '/agents' })`. */
export type FastifyPlugin = (instance: PluginScope, options: object) => Promise<void>;

type PluginScope = {
  /** That with which the plugin was registered. */
  readonly prefix: string;
};

/** For whom calls within the process act. */
export type TenantOptions = {
  /** Acts for this end user: sees and makes only its contexts. Leave it out for the whole tenant. */
  user?: string;
};

/** Nightshift in this process. It adds no handler of signals, exceptions or the exit to the process. */
export type Nightshift = {
  /**
   * The client of a tenant, without HTTP: the same calls as `createClient`, with every scope of a tenant. Throws
   * `NightshiftStartError` if the name is not valid. Nightshift adds a tenant that it does not know.
   */
  tenant(name: string, options?: TenantOptions): Client;
  /**
   * Enqueues a job in a transaction of yours, in the database of `databaseUrl`: the job exists exactly if the transaction
   * commits. A worker process runs it within about a second of the commit; see `notify`. `jobs.get` of the tenant's
   * client finds it from the commit on. Rejects with `NightshiftEnqueueError`; after `stop`, with `NightshiftStartError`.
   */
  enqueue(tx: SqlRunner, job: EnqueueJob): Promise<Enqueued>;
  /** After the commit of what was enqueued: worker processes look at once. Not needed, and safe to repeat. */
  notify(): Promise<void>;
  /**
   * Starts to run jobs here. Resolves when the worker can claim them. One worker for each instance. Rejects with
   * `NightshiftStartError`: a secret of a tool package is missing, or the transactional tools have no database
   * (`invalid_options`), or cannot use it (`database_refused`).
   */
  startWorker(): Promise<void>;
  /** The API as a function from `Request` to `Response`, for Hono, Next.js and others. Rejects if it would be open. */
  fetchHandler(options?: ApiOptions<Request> & PathOptions): Promise<FetchHandler>;
  /** The API as a handler for `node:http`, Express and others. Rejects if it would be open. */
  nodeHandler<Received extends NodeRequest = NodeRequest>(
    options?: ApiOptions<Received> & PathOptions,
  ): Promise<NodeHandler>;
  /** The API as a plugin for Fastify 5. Rejects if it would be open. */
  fastifyPlugin<Received extends NodeRequest = NodeRequest>(options?: ApiOptions<Received>): Promise<FastifyPlugin>;
  /**
   * Ends streams and waits for requests, lets the worker finish or release its jobs (`drainMs`), and closes all
   * connections. Then nothing of Nightshift keeps the process alive. Idempotent.
   */
  stop(): Promise<void>;
};
