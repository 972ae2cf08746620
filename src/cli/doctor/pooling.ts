/** Checks poolers, such as PgBouncer, between the processes and PostgreSQL. */
import type { Config } from '../../config/config.ts';
import { DIRECT_URL, describeIgnored, examinePooling, type UsedUrls } from '../../db/setup/unfit-pooling.ts';
import { WORKER_LIMITS, requestLimits } from '../../platform/services/pool-limits.ts';
import { apiUrls, workerUrls } from '../../platform/schema/check-pooling.ts';
import { fail, ok, warn, why, type Finding } from './finding.ts';

/** None: there is no pooler. A server that does not answer has another finding, unless only the direct URL leads to it. */
export async function poolingFindings(config: Config): Promise<Finding[]> {
  const { databaseUrl, apiDatabaseUrl } = config;
  const ofWorkers = databaseUrl === null ? null : workerUrls(config, { databaseUrl, poolLimits: WORKER_LIMITS });
  // Without a login of its own an API shares the URL of the workers, and may share its limits.
  const ofApi =
    apiDatabaseUrl === null
      ? null
      : apiUrls(config, { databaseUrl: apiDatabaseUrl, poolLimits: requestLimits(config) });
  return [
    ...(ofWorkers === null ? [] : await findingsOf('pooling', ofWorkers)),
    ...(ofApi === null ? [] : await findingsOf('api pooling', ofApi)),
  ];
}

async function findingsOf(name: string, urls: UsedUrls): Promise<Finding[]> {
  try {
    const { pooling, problem, ignored } = await examinePooling(urls);
    if (problem !== null) return [fail(name, `${problem.reason} (${problem.fault})`, problem.advice)];
    if (pooling === 'direct') return [];
    if (ignored.length > 0) return [warn(name, ...describeIgnored(urls.pooled.name, ignored))];
    return [
      ok(name, pooling === 'transaction' ? 'transactions share the sessions of a pooler' : 'a pooler shares sessions'),
    ];
  } catch (error) {
    if (urls.direct === null || urls.direct.name === urls.pooled.name) return [];
    return [fail(name, `connection failed: ${why(error)}`, `Check ${urls.pooled.name} and ${DIRECT_URL}.`)];
  }
}
