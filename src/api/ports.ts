/** What the HTTP edge is given, and the type of the application that its routes are put on. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify';
import type { CommandPorts } from '../commands/ports.ts';
import type { Config } from '../config/config.ts';
import type { TenantId } from '../core/ids.ts';
import type { StreamHub } from '../events/stream-hub.ts';
import type { About } from './about.ts';
import type { Catalog } from './catalog.ts';
import type { SessionHash } from './session.ts';

/** What of the configuration matters to a request. */
export type ApiConfig = Pick<
  Config,
  | 'apiKeys'
  | 'adminKey'
  | 'allowedHosts'
  | 'trustedProxies'
  | 'queueLimit'
  | 'trees'
  | 'requestMs'
  | 'defaultModel'
  | 'sessionTimeoutS'
  | 'maxStreams'
  | 'databasePoolSize'
  | 'importBytes'
>;

export type ApiPorts = CommandPorts & {
  config: ApiConfig;
  logger: FastifyBaseLogger;
  /** Closed with the application. */
  streamHub: StreamHub;
  catalog: Catalog;
  about: About;
  /** Of the built console; null: it is not built. */
  consoleFolder: string | null;
};

export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

declare module 'fastify' {
  interface FastifyRequest {
    /** Whose data the request sees and writes: set before anything else looks. */
    tenantId: TenantId;
    /** Whether the caller may see what concerns the whole installation. */
    isOperator: boolean;
    /** Of the browser that asks; null: it bears a key, or none is needed. */
    session: SessionHash | null;
    /** The job that the request brought about; null: none. For the log. */
    madeJob: string | null;
    /** Of the monotonic clock, in milliseconds: when it is answered with 503 at the latest. */
    lateAt: number;
  }
  interface FastifyContextConfig {
    /**
     * `open`: answered without a key and whatever the Host says. `keyless`: without a key. `operator`: to the admin key
     * only. `tenant_or_operator`: to each key. Not given: to the key of a tenant. An installation without keys answers all of
     * them.
     */
    access?: 'open' | 'keyless' | 'operator' | 'tenant_or_operator';
    /** Its answer goes on for as long as the client likes: how long it took is no figure of a request. */
    stream?: true;
    /** Of work in many transactions: how long it may take beyond what any request may, in milliseconds. */
    timeoutMs?: number;
  }
}
