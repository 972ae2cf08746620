/** The API as the other commands see it. */
import { NightshiftError } from '../../client/index.ts';
import type { Client } from '../../client/index.ts';
import { fail, ok, warn } from './finding.ts';
import type { Finding } from './finding.ts';

export async function apiFindings(client: Client, url: string, version: string): Promise<Finding[]> {
  try {
    await client.system.health({ retries: 0 });
  } catch (error) {
    if (!(error instanceof NightshiftError)) throw error;
    const advice = '`nightshift start` starts one; NIGHTSHIFT_URL says where it is.';
    return [fail('api', `${url} does not answer (${error.code})`, advice)];
  }
  return [ok('api', `${url} answers`), await readiness(client), await access(client, version)];
}

async function readiness(client: Client): Promise<Finding> {
  try {
    const { status } = await client.system.ready({ retries: 0 });
    if (status === 'ok') return ok('api services', 'it reaches Postgres and the queue');
    return warn(
      'api services',
      'it does not reach the queue',
      'Work is found a little later until Redis is back.',
    );
  } catch (error) {
    if (!(error instanceof NightshiftError)) throw error;
    return fail('api services', error.message, 'Look at its log, and at its DATABASE_URL.');
  }
}

/** The document needs a key where any is needed, and tells the version. */
async function access(client: Client, version: string): Promise<Finding> {
  try {
    await client.system.stats({ retries: 0 });
    const { info } = await client.system.openapi({ retries: 0 });
    const theirs = isTold(info) ? info.version : version;
    if (theirs === version) return ok('api access', `it takes the key, and is ${theirs}`);
    return warn(
      'api access',
      `it is ${theirs}, and this is ${version}`,
      'Use the same version on both sides.',
    );
  } catch (error) {
    if (!(error instanceof NightshiftError)) throw error;
    const advice = 'Set NIGHTSHIFT_API_KEY to one of its NIGHTSHIFT_API_KEYS, without the tenant.';
    return fail('api access', `${error.message} (${error.code})`, advice);
  }
}

function isTold(info: unknown): info is { version: string } {
  return typeof info === 'object' && info !== null && 'version' in info && typeof info.version === 'string';
}
