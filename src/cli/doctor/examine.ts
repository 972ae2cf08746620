/** Runs all checks, in the order in which problems should be fixed. */
import type { Client } from '../../client/index.ts';
import { VERSION } from '../../package-files.ts';
import { apiFindings } from './api.ts';
import { commandFinding } from './commands.ts';
import { environmentFinding, nodeFinding, operatorFinding, providerFinding } from './environment.ts';
import type { Finding } from './finding.ts';
import { modelFindings } from './models.ts';
import { outboxFindings } from './outboxes.ts';
import { poolingFindings } from './pooling.ts';
import { postgresFindings, redisFindings } from './services.ts';
import { toolLoginFindings } from './tool-login.ts';

type Surroundings = {
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  url: string;
  client: Client;
  /** Calls models: this one, or true: the usual ones. Undefined: none. */
  call: string | true | undefined;
};

/** Yields each finding as soon as its check is done. */
export async function* examine({ env, cwd, url, client, call }: Surroundings): AsyncGenerator<Finding> {
  yield nodeFinding(process.versions.node);
  const { config, finding } = environmentFinding(env);
  yield finding;
  if (config !== null) {
    const configFile = await operatorFinding(cwd, config, env);
    yield configFile.finding;
    if (configFile.limits !== null) yield await commandFinding(configFile.limits, env);
    yield* await postgresFindings(config);
    yield* await poolingFindings(config);
    yield* await toolLoginFindings(configFile.transactional, config);
    yield* await redisFindings(config);
    yield* await outboxFindings(configFile.outboxes, config.databaseSchema);
    yield providerFinding(config);
    if (call !== undefined) yield* modelFindings(config, call);
  }
  yield* await apiFindings(client, url, VERSION);
}
