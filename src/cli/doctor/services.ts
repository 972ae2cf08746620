/** Postgres and Redis, as the environment names them. */
import type { Config } from '../../config/config.ts';
import { inspectDatabase } from '../../db/inspect.ts';
import type { DatabaseSight } from '../../db/inspect.ts';
import { schemaProblem } from '../../db/schema-state.ts';
import type { SchemaState } from '../../db/schema-state.ts';
import { inspectRedis } from '../../queue/inspect.ts';
import { spell } from '../terminal/time.ts';
import { fail, ok, warn, why } from './finding.ts';
import type { Finding } from './finding.ts';

const OLDEST_POSTGRES = 150_000;
const OLDEST_REDIS = [6, 2] as const;
const OLDEST_CLUSTER = [7, 0] as const;
/** Deadlines and waits are reckoned by Postgres' clock, the times of logs by ours. */
const SKEW_MS = 1_000;

export async function postgresFindings({ databaseUrl, databaseSchema }: Config): Promise<Finding[]> {
  if (databaseUrl === null)
    return [ok('postgres', 'DATABASE_URL is not set: `nightshift start` brings its own')];
  try {
    return about(await inspectDatabase(databaseUrl, databaseSchema));
  } catch (error) {
    const advice = 'Is it running, and is DATABASE_URL right: host, port, user, password, database?';
    return [fail('postgres', `cannot be used: ${why(error)}`, advice)];
  }
}

function about({ version, schema, skewMs, roundTripMs }: DatabaseSight): Finding[] {
  const server =
    version.number < OLDEST_POSTGRES
      ? fail('postgres', `it is ${version.name}`, 'PostgreSQL 15 or newer is needed.')
      : ok('postgres', `${version.name}, answers within ${spell(roundTripMs)}`);
  const apart = Math.max(0, Math.abs(skewMs) - roundTripMs);
  const side = skewMs > 0 ? 'ahead of' : 'behind';
  const clock =
    apart > SKEW_MS
      ? warn('clock', `Postgres is ${spell(apart)} ${side} this machine`, 'Let both keep time by NTP.')
      : ok('clock', 'this machine and Postgres agree');
  return [server, migrationsFinding(schema), clock];
}

function migrationsFinding(schema: SchemaState): Finding {
  const problem = schemaProblem(schema);
  return problem === null
    ? ok('migrations', 'up to date')
    : fail('migrations', problem.reason, problem.advice);
}

export async function redisFindings({ redisUrl }: Config): Promise<Finding[]> {
  if (redisUrl === null)
    return [
      ok('redis', 'REDIS_URL is not set: `nightshift start` does without; `api` and `worker` need one'),
    ];
  try {
    const { version, policy, cluster } = await inspectRedis(redisUrl);
    const oldest = cluster ? OLDEST_CLUSTER : OLDEST_REDIS;
    const server = isOlder(version, oldest)
      ? fail('redis', `it is ${version}`, `Redis ${oldest.join('.')} or newer is needed.`)
      : ok('redis', cluster ? `${version}, a cluster` : version);
    return [server, ...policyFindings(policy)];
  } catch (error) {
    const advice = 'Is it running, and is REDIS_URL right: host, port, user, password?';
    return [fail('redis', `cannot be used: ${why(error)}`, advice)];
  }
}

function policyFindings(policy: string | null): Finding[] {
  const name = 'redis memory';
  if (policy === null)
    return [warn(name, 'it does not say its maxmemory-policy', 'See to it that it is noeviction.')];
  if (policy === 'noeviction') return [ok(name, 'maxmemory-policy is noeviction')];
  const advice = 'Set it to noeviction: bells that are evicted cost a second each.';
  return [warn(name, `maxmemory-policy is ${policy}`, advice)];
}

function isOlder(version: string, [major, minor]: readonly [number, number]): boolean {
  const [is = 0, isMinor = 0] = version.split('.').map(Number);
  return is < major || (is === major && isMinor < minor);
}
