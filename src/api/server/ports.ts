/** The ports of the API, and the type of the Fastify application. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify';
import type { CommandPorts } from '../../commands/ports.ts';
import type { Config } from '../../config/config.ts';
import type { KeyRef } from '../../core/access/api-keys.ts';
import type { ApiKeyId, TenantId } from '../../core/ids.ts';
import type { StreamHub } from '../../events/stream-hub.ts';
import type { Rooms } from '../quotas/room.ts';
import type { About } from './about.ts';
import type { Catalog } from './catalog.ts';
import type { Scope, Scopes } from '../../core/access/scopes.ts';
import type { KeyLimits, RequestRates, TenantLimits } from '../../core/access/quotas.ts';
import type { Explain } from '../../core/workers/explained.ts';
import type { Allow } from '../../core/access/tenant.ts';
import type { Token } from '../../core/access/tokens.ts';
import type { TraceParent } from '../../core/tracing/trace-parent.ts';
import type { Telemetry } from '../../core/tracing/telemetry.ts';
import type { User } from '../../core/access/user.ts';
import type { Receivers } from '../../webhooks/receivers.ts';
import type { SecretBox } from '../../webhooks/secret-box.ts';
import type { Credential } from '../access/access.ts';
import type { Embedded } from '../embedded/callers.ts';

/** The settings that requests depend on. */
export type ApiConfig = Pick<
  Config,
  | 'apiKeys'
  | 'adminKey'
  | 'metricsKey'
  | 'oidc'
  | 'oidcSettings'
  | 'allowedHosts'
  | 'trustedProxies'
  | 'queueLimit'
  | 'trees'
  | 'tenantLimits'
  | 'requestMs'
  | 'defaultModel'
  | 'sessionTimeoutS'
  | 'maxStreams'
  | 'databasePoolSize'
  | 'importBytes'
  | 'secretKeys'
  | 'corsOrigins'
>;

/**
 * How the application is part of another service. `path`: under which the service serves it, which the application itself
 * does not see; empty: at the root.
 */
export type Mount = { path: string; embedded: Embedded };

/** `secretBox` null: no webhook can be made. */
export type WebhookPorts = Pick<Receivers, 'whyNot'> & { secretBox: SecretBox | null };

/** What an application is made of. */
export type AppPorts = CommandPorts & {
  config: ApiConfig;
  logger: FastifyBaseLogger;
  /** Closed with the application. */
  streamHub: StreamHub;
  catalog: Catalog;
  explain: Explain;
  requestRates: RequestRates;
  about: About;
  webhooks: WebhookPorts;
  telemetry: Telemetry;
  /** The built console; null: not built. */
  consoleFolder: string | null;
  /** The files of Swagger UI. */
  referenceFolder: string;
  /** Null: the application has a server of its own, with the console and the reference. */
  mount: Mount | null;
};

export type ApiPorts = AppPorts & {
  /** For more jobs and workers of tenants with limits. */
  rooms: Rooms;
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
    /** The tenant whose data the request reads and writes. The access hook sets it first. */
    tenantId: TenantId;
    /** Its name, for the log. */
    tenantName: string;
    /** What the caller may do in its tenant; null: it is no tenant. */
    scopes: Scopes | null;
    /** What the workers of the tenant may use, known at most a second late. Only if the caller is a tenant. */
    allow: Allow;
    /** The limits of the tenant, known at most a second late. None if the caller is no tenant. */
    limits: TenantLimits;
    /** Those of its API key, beside them. */
    keyLimits: KeyLimits;
    /** Whether the caller may see data of the whole installation. */
    isOperator: boolean;
    /** What gives access and may end meanwhile; null: the admin key. */
    credential: Credential | null;
    /** The key that gives access, itself or by what it made; null: none, the admin key, or the session of a user. */
    key: KeyRef | null;
    /** The token that the request was sent with; null: none. */
    token: Token | null;
    /** The user that its token proves, or the sign-in of its session; null: none. */
    user: User | null;
    /** The place of the request in a trace; null: in none. Jobs that it creates are below it. */
    traceParent: TraceParent | null;
    /** The job that the request created; null: none. For the log. */
    madeJob: string | null;
    /** The API key that the request created; null: none. For the log. */
    madeKey: ApiKeyId | null;
    /** The token that the request created; null: none. For the log. */
    madeToken: string | null;
    /** Deadline on the monotonic clock, in milliseconds: then the API answers 503. */
    lateAt: number;
  }
  interface FastifyContextConfig {
    /**
     * `open`: no key, and no check of `Host`. `keyless`: no key. `any_key`: one of a tenant, or the admin key.
     * `operator`: only the admin key. `metrics`: that, or the key for metrics. A scope: the key of a tenant that has it. `…_or_operator`: that, or the admin key.
     * Every route must declare it. Until there are keys, no route needs one.
     */
    access?: 'open' | 'keyless' | 'operator' | 'metrics' | 'any_key' | 'read_or_operator' | 'keys_or_operator' | Scope;
    /**
     * What a token reaches. `context`, `worker`, `job`: what `:id` names, if the token gives access to its context.
     * `filtered`: the handler sees to it. `any`: the route has nothing of users. `none`: tokens are refused. Every route
     * whose scope a token may have must declare it.
     */
    tokens?: 'context' | 'worker' | 'job' | 'filtered' | 'any' | 'none';
    /** The response is a stream that stays open: its duration is not counted as a request. */
    stream?: true;
    /** Limits of the tenant do not refuse it: it explains them. */
    uncounted?: true;
    /** Extra time for work in many transactions, in milliseconds, on top of the general request timeout. */
    timeoutMs?: number;
  }
}
