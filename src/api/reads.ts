/**
 * How long PostgreSQL may work on what a route reads. The class of each route that reads is decided here, and nowhere else: a
 * route that asks for a reader and is not listed fails. A read ends in PostgreSQL, too, when its client disconnects or its
 * request is answered with 503.
 */
import type { FastifyReply } from 'fastify';
import { refuse } from '../core/errors.ts';
import { CANCELLED, errorCode, GivenUp } from '../db/client.ts';
import type { Executor } from '../db/client.ts';
import { OutOfTime } from './deadline.ts';
import type { ApiPorts } from './ports.ts';
import { RequestRefused } from './problem.ts';
import { signalOf } from './signal.ts';

type Limit = {
  /** Of each statement, in milliseconds. */
  statementMs: number;
  /** What the client can do where a statement took longer. */
  advice: string;
};

const LIMITS = {
  /** A few rows by their ids: no limit, and no transaction for one. */
  short: null,
  /** A page of a list. */
  page: { statementMs: 5_000, advice: 'Ask for a smaller limit, or narrow the filter.' },
  search: {
    statementMs: 5_000,
    advice: 'Narrow it by context, worker or time, or ask for fewer words.',
  },
  /** Counts and sums over many rows, or one thing put together from many. */
  report: { statementMs: 5_000, advice: 'Ask for a shorter time or for less at once, or try again later.' },
  /** The figures of a scrape, which the next one asks for again. */
  scrape: { statementMs: 2_000, advice: 'Try again later.' },
  /** A stretch of a long history, of which there may be many. */
  stretch: { statementMs: 10_000, advice: 'Try again later.' },
} as const satisfies Record<string, Limit | null>;

export type ReadClass = keyof typeof LIMITS;

/** By the operation's id in the OpenAPI document. */
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
  listJobs: 'page',
  getJob: 'short',
  listJobSteps: 'page',
  getStepPrompt: 'stretch',
  listRoles: 'page',
  getRole: 'short',
  exportContext: 'stretch',
  search: 'search',
  streamEvents: 'short',
  getStats: 'report',
  getStatsHistory: 'report',
  getSystem: 'short',
  getSession: 'short',
  getReadiness: 'short',
  getMetrics: 'scrape',
};

/** Runs `read` in one transaction, with the limit of the route. A read of one statement asks `last`, and takes one round trip. */
export type Reader = <T>(read: (tx: Executor, last: Executor) => Promise<T>) => Promise<T>;

/** The reader of a request. Once its client is gone, or another answer was sent, it reads nothing. */
export function readerOf({ database }: Pick<ApiPorts, 'database'>, reply: FastifyReply): Reader {
  const { statementMs, advice } = limitOf(reply.request.routeOptions.schema?.operationId);
  const signal = signalOf(reply);
  return (read) =>
    database.read(read, { statementMs, signal }).catch((error: unknown) => {
      if (error instanceof GivenUp) throw new OutOfTime('The client no longer waits for this read.');
      if (errorCode(error) !== CANCELLED) throw error;
      const message = `Reading this took PostgreSQL longer than ${statementMs / 1_000} s. ${advice}`;
      throw new RequestRefused(refuse('unavailable', message));
    });
}

/** The limit of a class, for what is read without a request. */
export function statementMsOf(operationId: string): number {
  return limitOf(operationId).statementMs;
}

function limitOf(operationId: string | undefined): Limit {
  const limit = LIMITS[READ_CLASSES[operationId ?? ''] ?? 'short'];
  if (limit === null) throw new Error(`The operation ${operationId} has no class of reads with a limit.`);
  return limit;
}
