/** Checks the PostgreSQL and Redis servers named by the environment. */
import type { Config } from '../../config/config.ts';
import { inspectDatabase, type DatabaseSight } from '../../db/setup/inspect.ts';
import { schemaProblem, type SchemaState } from '../../db/setup/schema-state.ts';
import { inspectRedis } from '../../queue/inspect.ts';
import { formatDuration } from '../terminal/time.ts';
import { fail, ok, warn, why, type Finding } from './finding.ts';

const OLDEST_POSTGRES = 150_000;
const OLDEST_REDIS = [6, 2] as const;
const OLDEST_CLUSTER = [7, 0] as const;
/** Deadlines and waits use the clock of PostgreSQL; log timestamps use the clock of this machine. */
const SKEW_MS = 1_000;

/** With two URLs, the second is that of another login to the same database. */
export async function postgresFindings({ databaseUrl, apiDatabaseUrl, databaseSchema }: Config): Promise<Finding[]> {
  const ofWorkers = databaseUrl === null ? null : await findingsOf('DATABASE_URL', databaseUrl, databaseSchema);
  const ofApi =
    apiDatabaseUrl === null ? null : await findingsOf('NIGHTSHIFT_API_DATABASE_URL', apiDatabaseUrl, databaseSchema);
  if (ofWorkers === null)
    return ofApi ?? [ok('postgres', 'DATABASE_URL is not set; `nightshift start` starts its own server')];
  const [server, ...others] = ofApi ?? [];
  const more = [...(server === undefined ? [] : [server]), ...others.filter(({ status }) => status === 'fail')];
  return [...ofWorkers, ...more.map((finding) => ({ ...finding, name: `api ${finding.name}` }))];
}

/** Of the server first. */
async function findingsOf(
  variable: 'DATABASE_URL' | 'NIGHTSHIFT_API_DATABASE_URL',
  url: string,
  schema: string,
): Promise<Finding[]> {
  try {
    const login = variable === 'DATABASE_URL' ? 'any' : 'to be limited';
    return about(await inspectDatabase(url, schema, login));
  } catch (error) {
    const advice = `Check that PostgreSQL is running and that ${variable} has the right host, port, user, password and database.`;
    return [fail('postgres', `connection failed: ${why(error)}`, advice)];
  }
}

function about({ version, schema, skewMs, roundTripMs }: DatabaseSight): Finding[] {
  const server =
    version.number < OLDEST_POSTGRES
      ? fail('postgres', `version ${version.name}`, 'Install PostgreSQL 15 or newer.')
      : ok('postgres', `${version.name}, responds within ${formatDuration(roundTripMs)}`);
  const apart = Math.max(0, Math.abs(skewMs) - roundTripMs);
  const side = skewMs > 0 ? 'ahead of' : 'behind';
  const clock =
    apart > SKEW_MS
      ? warn(
          'clock',
          `the clock of PostgreSQL is ${formatDuration(apart)} ${side} this machine`,
          'Synchronize both with NTP.',
        )
      : ok('clock', 'PostgreSQL and this machine agree');
  return [server, migrationsFinding(schema), clock];
}

function migrationsFinding(schema: SchemaState): Finding {
  const problem = schemaProblem(schema);
  const name = schema.kind === 'unlimited' ? 'row security' : 'migrations';
  return problem === null ? ok(name, 'up to date') : fail(name, problem.reason, problem.advice);
}

export async function redisFindings({ redisUrl }: Config): Promise<Finding[]> {
  if (redisUrl === null)
    return [ok('redis', 'REDIS_URL is not set; `nightshift start` needs no Redis, `api` and `worker` do')];
  try {
    const { version, policy, cluster } = await inspectRedis(redisUrl);
    const oldest = cluster ? OLDEST_CLUSTER : OLDEST_REDIS;
    const server = isOlder(version, oldest)
      ? fail('redis', `version ${version}`, `Install Redis ${oldest.join('.')} or newer.`)
      : ok('redis', cluster ? `${version}, a cluster` : version);
    return [server, ...policyFindings(policy)];
  } catch (error) {
    const advice = 'Check that Redis is running and that REDIS_URL has the right host, port, user and password.';
    return [fail('redis', `connection failed: ${why(error)}`, advice)];
  }
}

function policyFindings(policy: string | null): Finding[] {
  const name = 'redis memory';
  if (policy === null) return [warn(name, 'maxmemory-policy cannot be read', 'Make sure that it is noeviction.')];
  if (policy === 'noeviction') return [ok(name, 'maxmemory-policy is noeviction')];
  const advice = 'Set it to noeviction. Each evicted wake-up delays a job by about a second.';
  return [warn(name, `maxmemory-policy is ${policy}`, advice)];
}

function isOlder(version: string, [major, minor]: readonly [number, number]): boolean {
  const [is = 0, isMinor = 0] = version.split('.').map(Number);
  return is < major || (is === major && isMinor < minor);
}
