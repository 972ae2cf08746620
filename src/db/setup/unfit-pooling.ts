/** Which poolers Nightshift cannot use, or not for what a process needs, and what to do about it. */
import { NO_LIMITS } from '../connection/client.ts';
import type { SessionLimits } from '../connection/connection.ts';
import { isUnavailable } from '../connection/database-errors.ts';
import { DatabaseRefused } from './database-refused.ts';
import { inspectPooling, type ConnectionSight, type Pooling } from './pooling.ts';

/** An URL of the database, and the variable or option that gives it. */
export type DatabaseUrl = { name: string; url: string };

export type UsedUrls = {
  /** Of all statements but those that need a session. */
  pooled: DatabaseUrl;
  /** For what needs a session: heartbeats, migrations, a wake queue on PostgreSQL. Null: this process has no such need. */
  direct: DatabaseUrl | null;
  schema: string;
  /** Of connections of `pooled`. */
  limits: Partial<SessionLimits> | undefined;
};

export type PoolingFault =
  | 'statement_pooling'
  | 'no_prepared_statements'
  | 'startup_parameter_refused'
  | 'search_path_ignored'
  | 'session_needed'
  | 'another_database';

export type PoolingProblem = { fault: PoolingFault; reason: string; advice: string };

export type PoolingState = {
  /** Null: the pooler refuses connections. */
  pooling: Pooling | null;
  problem: PoolingProblem | null;
  /** Limits that the pooler ignores: what they should be. */
  ignored: readonly string[];
};

const PAGE = 'See docs/deploy.md, PgBouncer.';
/** The variable for another URL than the pooler's. */
export const DIRECT_URL = 'NIGHTSHIFT_DIRECT_DATABASE_URL';

/** A URL leads to no server that answers. The cause is the driver's error, and `isUnavailable` recognises it. */
export class UrlUnavailable extends Error {
  override name = 'UrlUnavailable';
  /** The variable or option that gives the URL. */
  readonly variable: string;
  constructor(variable: string, cause: unknown) {
    super(`${variable} names a PostgreSQL that does not answer.`, { cause });
    this.variable = variable;
  }
}

/** Rejects with `UrlUnavailable`, or with the driver's error. */
export async function examinePooling({ pooled, direct, schema, limits }: UsedUrls): Promise<PoolingState> {
  const given = { ...NO_LIMITS, ...limits };
  const sight = await sightOf(pooled, schema, given);
  if ('fault' in sight) return { pooling: null, problem: sight, ignored: [] };
  const problem = unfit(pooled, sight, schema) ?? (direct && (await lacksSession(pooled, sight, direct, schema)));
  return { pooling: sight.pooling, problem, ignored: ignoredLimits(sight, given) };
}

async function sightOf(
  { name, url }: DatabaseUrl,
  schema: string,
  limits: SessionLimits,
): Promise<ConnectionSight | PoolingProblem> {
  try {
    return await inspectPooling(url, schema, limits);
  } catch (error) {
    const problem = refusedParameter(name, error);
    if (problem !== null) return problem;
    throw isUnavailable(error) ? new UrlUnavailable(name, error) : error;
  }
}

/** Throws `DatabaseRefused`, `UrlUnavailable` or the driver's error. Returns the limits that the pooler ignores. */
export async function refusePooling(urls: UsedUrls): Promise<readonly string[]> {
  const { problem, ignored } = await examinePooling(urls);
  if (problem !== null) throw new DatabaseRefused(describePooling(problem));
  return ignored;
}

export function describePooling({ fault, reason, advice }: PoolingProblem): string {
  return `${reason} ${advice} (${fault})`;
}

/** For the operator: what is wrong, and what to do. `ignored` is not empty. */
export function describeIgnored(name: string, ignored: readonly string[]): [reason: string, advice: string] {
  return [
    `${name} leads to a pooler that ignores limits for frozen processes.`,
    `Set ${ignored.join(' and ')} in connect_query. ${PAGE}`,
  ];
}

/**
 * Throws `DatabaseRefused` if connections of `url` do not keep their session or have another schema; the driver's error.
 * `own`: the `search_path` of the connection that needs its session.
 */
export async function refuseWithoutSession(url: string, schema: string, own: string): Promise<void> {
  const named = { name: 'The URL of the database', url };
  const sight = await inspectPooling(url, schema, NO_LIMITS);
  const problem =
    unfitForSession(named, sight, schema) ?? unfitForSession(named, { ...sight, searchPath: own }, schema);
  if (problem !== null) throw new DatabaseRefused(describePooling(problem));
}

/** The error to throw: `DatabaseRefused` if the pooler refuses a parameter with which the connection started. */
export function refusedStart(error: unknown): unknown {
  const problem = refusedParameter('The URL of the database', error);
  return problem === null ? error : new DatabaseRefused(describePooling(problem), { cause: error });
}

/** Null: it can be used for statements. */
function unfit({ name }: DatabaseUrl, { pooling, searchPath }: ConnectionSight, schema: string): PoolingProblem | null {
  switch (pooling) {
    case 'statement':
      return {
        fault: 'statement_pooling',
        reason: `${name} leads to a pooler that pools statements, which has no transactions.`,
        advice: `Set pool_mode = transaction. ${PAGE}`,
      };
    case 'unprepared':
      return {
        fault: 'no_prepared_statements',
        reason: `${name} leads to a pooler that loses prepared statements.`,
        advice: `Use PgBouncer 1.21 or newer, and set max_prepared_statements = 1000. ${PAGE}`,
      };
    case 'transaction':
    case 'session':
      if (searchPath === schema) return null;
      return {
        fault: 'search_path_ignored',
        reason: `${name} leads to a pooler that ignores search_path: it is ${searchPath}, not ${schema}.`,
        advice: `Set it ${pooling === 'session' ? 'for the login' : 'in connect_query, or for the login'}: alter role … set search_path = ${schema}. ${PAGE}`,
      };
    case 'direct':
      return null;
  }
}

/** Null: `direct` keeps its session, and leads to the same database. */
async function lacksSession(
  pooled: DatabaseUrl,
  sight: ConnectionSight,
  direct: DatabaseUrl,
  schema: string,
): Promise<PoolingProblem | null> {
  const seen = direct.url === pooled.url ? sight : await sightOf(direct, schema, NO_LIMITS);
  if ('fault' in seen) return seen;
  if (seen.place !== sight.place)
    return {
      fault: 'another_database',
      reason: `${direct.name} leads to another database than ${pooled.name}.`,
      advice: 'Give both the same database.',
    };
  return unfitForSession(direct, seen, schema);
}

/** Null: connections keep their session, and see the schema. */
function unfitForSession(given: DatabaseUrl, sight: ConnectionSight, schema: string): PoolingProblem | null {
  const keepsSession = sight.pooling === 'direct' || sight.pooling === 'session';
  return keepsSession ? unfit(given, sight, schema) : sessionNeeded(given.name);
}

function sessionNeeded(name: string): PoolingProblem {
  return {
    fault: 'session_needed',
    reason: `${name} leads to a pooler that pools transactions. Heartbeats and migrations need a session of their own.`,
    advice: `Set ${DIRECT_URL} (embedded: directDatabaseUrl) to the URL of the PostgreSQL server itself. ${PAGE}`,
  };
}

/** Null: another error. */
function refusedParameter(name: string, error: unknown): PoolingProblem | null {
  const [, parameter] =
    (error instanceof Error ? /unsupported startup parameter: (\w+)/.exec(error.message) : null) ?? [];
  if (parameter === undefined) return null;
  return {
    fault: 'startup_parameter_refused',
    reason: `${name} leads to a pooler that refuses the startup parameter ${parameter}.`,
    advice: `Add it to ignore_startup_parameters. ${PAGE}`,
  };
}

function ignoredLimits({ pooling, idleInTransaction, lock }: ConnectionSight, wanted: SessionLimits): string[] {
  if (pooling === 'direct') return [];
  return [
    ...(idleInTransaction === wanted.idleInTransaction
      ? []
      : [`idle_in_transaction_session_timeout = ${wanted.idleInTransaction}`]),
    ...(lock === wanted.lock ? [] : [`lock_timeout = ${wanted.lock}`]),
  ];
}
