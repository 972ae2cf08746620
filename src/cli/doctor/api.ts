/** Checks the API through the client that the other commands use. */
import { NightshiftError, type Client } from '../../client/index.ts';
import { fail, ok, warn, type Finding } from './finding.ts';

export async function apiFindings(client: Client, url: string, version: string): Promise<Finding[]> {
  try {
    await client.system.health({ retries: 0 });
  } catch (error) {
    if (!(error instanceof NightshiftError)) throw error;
    const advice = 'Start it with `nightshift start`, or set NIGHTSHIFT_URL to the URL of a running API.';
    return [fail('api', `${url} does not answer (${error.code})`, advice)];
  }
  return [ok('api', `${url} answers`), await readiness(client), await access(client, version)];
}

async function readiness(client: Client): Promise<Finding> {
  try {
    const { status } = await client.system.ready({ retries: 0 });
    if (status === 'ok') return ok('api services', 'PostgreSQL and Redis are reachable');
    return warn(
      'api services',
      'the API cannot reach Redis',
      'Until Redis is reachable, workers poll for jobs about once a second.',
    );
  } catch (error) {
    if (!(error instanceof NightshiftError)) throw error;
    return fail('api services', error.message, 'Check the log and the DATABASE_URL of the API process.');
  }
}

/** These requests need a valid API key if the API has keys. The OpenAPI document contains the version. */
async function access(client: Client, version: string): Promise<Finding> {
  try {
    await client.system.stats({ retries: 0 });
    const { info } = await client.system.openapi({ retries: 0 });
    const theirs = hasVersion(info) ? info.version : version;
    if (theirs === version) return ok('api access', `access granted; version ${theirs}`);
    return warn(
      'api access',
      `the API has version ${theirs}, this command line ${version}`,
      'Install the same version on both sides.',
    );
  } catch (error) {
    if (!(error instanceof NightshiftError)) throw error;
    const advice =
      error.code === 'forbidden'
        ? 'Set NIGHTSHIFT_API_KEY to a key with the scope read.'
        : 'Set NIGHTSHIFT_API_KEY to a valid key of the API: of its NIGHTSHIFT_API_KEYS, without the tenant, or of `nightshift keys`.';
    return fail('api access', `${error.message} (${error.code})`, advice);
  }
}

function hasVersion(info: unknown): info is { version: string } {
  return typeof info === 'object' && info !== null && 'version' in info && typeof info.version === 'string';
}
