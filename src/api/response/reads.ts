/**
 * Statement timeouts of reads, by route. `READ_CLASSES` is the only place that sets the class of a route; a route that
 * requests a reader and is not listed fails. When the client disconnects or the API answers 503, the read is also
 * cancelled in PostgreSQL.
 */
import type { FastifyReply } from 'fastify';
import { quotaExceeded } from '../../core/access/quotas.ts';
import { GivenUp, type Executor } from '../../db/connection/client.ts';
import { CANCELLED, errorCode } from '../../db/connection/database-errors.ts';
import { OutOfTime } from '../server/deadline.ts';
import type { ApiPorts } from '../server/ports.ts';
import { RequestRefused, refused } from './problem.ts';
import { signalOf } from './signal.ts';

type Limit = {
  /** Statement timeout in milliseconds. */
  statementMs: number;
  /** Advice to the client after a timeout. */
  advice: string;
};

const LIMITS = {
  /** A few rows by id: no limit, so no transaction is needed to set it. */
  short: null,
  /** A page of a list. */
  page: { statementMs: 5_000, advice: 'Use a smaller limit or a narrower filter.' },
  search: {
    statementMs: 5_000,
    advice: 'Filter by context, worker or time, or search for fewer words.',
  },
  /** Counts and sums over many rows, or one object built from many rows. */
  report: { statementMs: 5_000, advice: 'Request a shorter period or fewer items, or try again later.' },
  /** The metrics of a scrape; the next scrape reads them again. */
  scrape: { statementMs: 2_000, advice: 'Try again later.' },
  /** A part of a long history; one request may read many parts. */
  stretch: { statementMs: 10_000, advice: 'Try again later.' },
} as const satisfies Record<string, Limit | null>;

type ReadClass = keyof typeof LIMITS;

/** By `operationId` in the OpenAPI document. */
export const READ_CLASSES: Readonly<Record<string, ReadClass>> = {
  listWorkers: 'page',
  getWorker: 'short',
  getWorkerTree: 'report',
  listContexts: 'page',
  getContext: 'short',
  getContextState: 'short',
  listMessages: 'page',
  getMessage: 'short',
  listSiblings: 'page',
  listTurns: 'page',
  listBranches: 'page',
  listCompactions: 'page',
  getToolCall: 'report',
  listApprovals: 'page',
  listGrants: 'page',
  listJobs: 'page',
  listProcesses: 'page',
  getJob: 'short',
  listJobSteps: 'page',
  listJobLogs: 'page',
  getStepPrompt: 'stretch',
  listApiKeys: 'page',
  listAuditEntries: 'page',
  listTenants: 'page',
  getTenant: 'short',
  listWebhooks: 'page',
  getWebhook: 'short',
  listDeliveries: 'page',
  getDelivery: 'short',
  listRoles: 'page',
  getRole: 'short',
  listRoleVersions: 'page',
  listSchedules: 'page',
  getSchedule: 'short',
  listScheduleRuns: 'page',
  exportContext: 'stretch',
  search: 'search',
  streamEvents: 'short',
  streamChanges: 'short',
  getStats: 'report',
  getStatsHistory: 'report',
  getUsage: 'report',
  getSystem: 'short',
  listTools: 'report',
  getToolUse: 'report',
  getSession: 'short',
  getReadiness: 'short',
  getMetrics: 'scrape',
  getLoad: 'scrape',
};

/**
 * Runs `read` in one transaction with the limit of the route. A read of a single statement uses `last`: one round trip.
 */
export type Reader = <T>(read: (tx: Executor, last: Executor) => Promise<T>) => Promise<T>;

/** The reader of a request. It stops reading when the client disconnects or the response was sent. */
export function readerOf(ports: Pick<ApiPorts, 'database'>, reply: FastifyReply): Reader {
  return readerWithin(ports, reply, limitOf(reply.request.routeOptions.schema?.operationId));
}

/** The same for what a request that writes reads before: a page of a list. */
export function pageReaderOf(ports: Pick<ApiPorts, 'database'>, reply: FastifyReply): Reader {
  return readerWithin(ports, reply, LIMITS.page);
}

function readerWithin(
  { database }: Pick<ApiPorts, 'database'>,
  reply: FastifyReply,
  { statementMs: ofRoute, advice }: Limit,
): Reader {
  const { request } = reply;
  const { sql_ms = Infinity } = request.limits;
  const ofTenant = request.routeOptions.config.uncounted === true ? Infinity : sql_ms;
  const statementMs = Math.min(ofRoute, ofTenant);
  const signal = signalOf(reply);
  return (read) =>
    database.read(read, { statementMs, signal }).catch((error: unknown) => {
      if (error instanceof GivenUp)
        throw new OutOfTime('The client disconnected or the request timed out during this read.');
      if (errorCode(error) !== CANCELLED) throw error;
      const late = `PostgreSQL did not finish this read within ${statementMs / 1_000} s`;
      if (ofTenant < ofRoute)
        throw new RequestRefused(quotaExceeded('sql_ms', `${late}, the limit of the tenant. ${advice}`));
      throw refused('unavailable', `${late}. ${advice}`);
    });
}

export function limitOf(operationId: string | undefined): Limit {
  const limit = LIMITS[READ_CLASSES[operationId ?? ''] ?? 'short'];
  if (limit === null)
    throw new Error(`The operation ${operationId} has no read class with a limit. Add it to READ_CLASSES.`);
  return limit;
}
