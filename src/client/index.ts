/**
 * The typed client, `nightshift/client`: the whole API, for Node and browsers. It contains no server code and has no
 * dependencies.
 */
import { contextCalls } from './calls/contexts.ts';
import { followChanges, type ChangesOptions } from './events.ts';
import { jobCalls } from './calls/jobs.ts';
import { keyCalls } from './calls/keys.ts';
import { pagesOf } from './pages.ts';
import type { ApproveCalls, Chat, Operations, PostResult, ResolveToolCall } from './schema.ts';
import { tenantCalls } from './calls/tenants.ts';
import { processCalls } from './calls/processes.ts';
import { scheduleCalls } from './calls/schedules.ts';
import { tokenCalls } from './calls/tokens.ts';
import { openTransport, type ClientOptions, type Request, type RequestOptions, type Transport } from './transport.ts';
import { webhookCalls } from './calls/webhooks.ts';
import { roleCalls, workerCalls } from './calls/workers.ts';

export { NightshiftError } from './errors.ts';
export type { ApiCode, ErrorCode, RequestFault } from './errors.ts';
export type { Change, ChangesOptions, EventsOptions, LostConnection, StreamEvent } from './events.ts';
export { isFinished } from './calls/jobs.ts';
export type { WaitOptions } from './calls/jobs.ts';
export { outputSchema } from './output.ts';
export type { DataOf, JobOf, StandardJsonSchema } from './output.ts';
export type { Pages } from './pages.ts';
export type { RunOptions, ToolFunction } from './run.ts';
export type * from './schema.ts';
export { textMaker } from './text.ts';
export type { PartialMessage } from './text.ts';
export type { ClientOptions, Method, PathOf, Request, RequestOptions } from './transport.ts';
export type { NewWorker, WorkerWithJob } from './calls/workers.ts';

type ThrottledProvider = Operations['DELETE /api/providers/{name}/throttles/{id}']['path']['name'];

/** The typed client: what `createClient` returns. Named types keep the comments of its calls in the declarations. */
export type Client = {
  /** Any operation of the OpenAPI document: `request('GET', '/api/jobs/{id}', {path: {id}})`. */
  request: Request;
  /** Workers: an agent each, with a role, settings and a context. */
  workers: ReturnType<typeof workerCalls>;
  /** Contexts: conversations, with their messages, branches and events. */
  contexts: ReturnType<typeof contextCalls>;
  /** Jobs: read, waited for, cancelled. */
  jobs: ReturnType<typeof jobCalls>;
  /** Tool calls: read, approved, resolved, answered. */
  tools: ReturnType<typeof toolCalls>;
  /** Roles: templates for workers. */
  roles: ReturnType<typeof roleCalls>;
  /** Schedules, and their runs. */
  schedules: ReturnType<typeof scheduleCalls>;
  /** API keys. */
  keys: ReturnType<typeof keyCalls>;
  /** Tokens of end users. */
  tokens: ReturnType<typeof tokenCalls>;
  /** Tenants, for the operator. */
  tenants: ReturnType<typeof tenantCalls>;
  /** The audit log. */
  audit: ReturnType<typeof auditCalls>;
  /** Webhooks and their deliveries. */
  webhooks: ReturnType<typeof webhookCalls>;
  /** The installation, its health and its figures. */
  system: ReturnType<typeof systemCalls>;
  /** Model providers. */
  providers: ReturnType<typeof providerCalls>;
  /** Worker processes of the installation. */
  processes: ReturnType<typeof processCalls>;
  /** Sessions of browsers: sign-in sets a cookie that scripts cannot read. */
  session: ReturnType<typeof sessionCalls>;
  /** The inbox. */
  approvals: ReturnType<typeof approvalCalls>;
} & ReturnType<typeof singleCalls>;

/** A client of the API at `url`. It opens no connection before its first call. */
export function createClient(options: ClientOptions): Client {
  const transport = openTransport(options);
  const { request } = transport;
  return {
    request,
    workers: workerCalls(request),
    contexts: contextCalls(transport),
    jobs: jobCalls(request),
    tools: toolCalls(request),
    roles: roleCalls(request),
    schedules: scheduleCalls(request),
    keys: keyCalls(request),
    tokens: tokenCalls(request),
    tenants: tenantCalls(request),
    audit: auditCalls(request),
    webhooks: webhookCalls(request),
    system: systemCalls(request),
    providers: providerCalls(request),
    processes: processCalls(request),
    session: sessionCalls(request),
    approvals: approvalCalls(request),
    ...singleCalls(transport),
  };
}

function singleCalls({ request, open }: Transport) {
  return {
    /** What may have changed in lists of the tenant, so that they are read again. Reconnects by itself: read them then, too. */
    changes: (options?: ChangesOptions) => followChanges(open, options),
    /** The limits of the tenant, and what it uses of each. The operator names another tenant. */
    usage: (query: Operations['GET /api/usage']['query'] = {}, options?: RequestOptions) =>
      request('GET', '/api/usage', { query, ...options }),
    /** Full-text search in messages, best match first. */
    search: (query: Operations['GET /api/search']['query'], options?: RequestOptions) =>
      pagesOf((more) => request('GET', '/api/search', { query: { ...query, ...more }, ...options })),
    /** The first message creates the session. `session_id` is the id of its context. */
    chat: (body: Chat, options?: RequestOptions) => request('POST', '/api/chat', { body, ...options }),
  };
}

function auditCalls(request: Request) {
  return {
    /** Who changed access, settings or data, and who decided on calls; newest first. */
    list: (query: Operations['GET /api/audit']['query'] = {}, options?: RequestOptions) =>
      pagesOf((more) => request('GET', '/api/audit', { query: { ...query, ...more }, ...options })),
  };
}

function providerCalls(request: Request) {
  return {
    /** For the operator: ends a throttle, so that the jobs that wait for it go on at once. */
    liftThrottle: (name: ThrottledProvider, id: string, options?: RequestOptions) =>
      request('DELETE', '/api/providers/{name}/throttles/{id}', { path: { name, id }, ...options }),
  };
}

function approvalCalls(request: Request) {
  return {
    /** Calls that wait for a person or a client, oldest first. */
    list: (query: Operations['GET /api/approvals']['query'] = {}, options?: RequestOptions) =>
      pagesOf((more) => request('GET', '/api/approvals', { query: { ...query, ...more }, ...options })),
  };
}

function toolCalls(request: Request) {
  return {
    /** Reads a tool call with its executions. */
    get: (id: string, tool_call_id: string, options?: RequestOptions) =>
      request('GET', '/api/contexts/{id}/tools/{tool_call_id}', { path: { id, tool_call_id }, ...options }),
    /** Approves or denies one call, or all waiting calls. */
    approve: (id: string, body: ApproveCalls, options?: RequestOptions) =>
      request('POST', '/api/contexts/{id}/tools/approve', { path: { id }, body, ...options }),
    /** Resolves a call whose outcome is unknown. */
    resolve: (id: string, tool_call_id: string, body: ResolveToolCall, options?: RequestOptions) =>
      request('POST', '/api/contexts/{id}/tools/{tool_call_id}/resolve', {
        path: { id, tool_call_id },
        body,
        ...options,
      }),
    /** Posts the answer to a question, or the result of a client tool. */
    result: (id: string, tool_call_id: string, body: PostResult, options?: RequestOptions) =>
      request('POST', '/api/contexts/{id}/tools/{tool_call_id}/result', {
        path: { id, tool_call_id },
        body,
        ...options,
      }),
  };
}

function systemCalls(request: Request) {
  return {
    /** Whether the process answers. */
    health: (options?: RequestOptions) => request('GET', '/healthz', options),
    /** Whether it can serve: PostgreSQL answers and has all migrations; the queue should answer. */
    ready: (options?: RequestOptions) => request('GET', '/readyz', options),
    /** Metrics for Prometheus. */
    metrics: (options?: RequestOptions) => request('GET', '/metrics', options),
    /** How many slots the work needs, of all tenants: for what adds and removes worker processes. */
    load: (options?: RequestOptions) => request('GET', '/metrics/load', options),
    /** Numbers of queued, running and waiting jobs, and of contexts by state. */
    stats: (options?: RequestOptions) => request('GET', '/api/stats', options),
    /** The installation: providers, tools, MCP servers, limits, worker processes. */
    get: (options?: RequestOptions) => request('GET', '/api/system', options),
    /** All tools that are known here, with the schemas of their inputs. */
    tools: (options?: RequestOptions) => request('GET', '/api/tools', options),
    /** What the tenant used of each tool in the last hours: calls, failures by code, durations. */
    toolUse: (query: Operations['GET /api/tools/use']['query'] = {}, options?: RequestOptions) =>
      request('GET', '/api/tools/use', { query, ...options }),
    /** Finished jobs, their tokens and durations, over time. */
    history: (query: Operations['GET /api/stats/history']['query'] = {}, options?: RequestOptions) =>
      request('GET', '/api/stats/history', { query, ...options }),
    /** The OpenAPI document. */
    openapi: (options?: RequestOptions) => request('GET', '/api/openapi.json', options),
  };
}

function sessionCalls(request: Request) {
  return {
    /** Whether the API needs a key, and whether this browser is signed in, with its scopes. */
    get: (options?: RequestOptions) => request('GET', '/api/session', options),
    /** Signs this browser in, with an API key or the admin key: sets a session cookie. */
    create: (key: string, options?: RequestOptions) => request('POST', '/api/session', { body: { key }, ...options }),
    /** Signs this browser out: ends its session and removes its cookie. */
    delete: (options?: RequestOptions) => request('DELETE', '/api/session', options),
  };
}
