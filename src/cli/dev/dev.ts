/**
 * `nightshift dev`: like `start`, but the config file and its imports are loaded again when they change. This process has
 * the services, the port and the watch; a process of its own runs worker and API.
 */
import path from 'node:path';
import { refuseBusyPort } from '../../api/server/busy-port.ts';
import { parseEnvironment, type Config } from '../../config/config.ts';
import { describeEnvFile, envFileIn, readEnvFile } from '../../config/env-file.ts';
import type { Environment } from '../../config/environment.ts';
import { openDatabase, type Database } from '../../db/connection/client.ts';
import { FROZEN_LIMITS } from '../../db/processes/frozen-sessions.ts';
import { endedJob } from '../../db/read/jobs/ended-job.ts';
import { freePort } from '../../dev/free-port.ts';
import { startServices } from '../../dev/services.ts';
import { createLog } from '../../platform/log.ts';
import { workerUrls } from '../../platform/schema/check-pooling.ts';
import { migrateAtStart } from '../../platform/schema/migrate-at-start.ts';
import { openBrowser } from '../open-browser.ts';
import { openScreen } from '../terminal/screen.ts';
import { jsonOutput, prettyOutput, type DevOutput, type Setting } from './dev-output.ts';
import { DevProcesses } from './processes.ts';
import { WatchedFiles } from './watch-files.ts';

/** `opens`: opens the console in a browser, if stdout is a terminal. Returns the exit code. */
export async function dev({ opens }: { opens: boolean }): Promise<number> {
  const folder = process.cwd();
  const envFile = readEnvFile(folder, process.env);
  const { env, file } = envFile;
  const config = parseEnvironment(env);
  await refuseBusyPort(config);
  const services = await startServices({ env, cwd: folder });
  try {
    const database = openDatabase(services.databaseUrl, { max: 1, schema: config.databaseSchema });
    try {
      const fixed = {
        DATABASE_URL: services.databaseUrl,
        REDIS_URL: services.redisUrl ?? '',
        // A free port is chosen once, so that it stays the same when a process has crashed.
        ...(config.port === 0 ? { PORT: String(await freePort()) } : {}),
        NIGHTSHIFT_WORKSPACES: config.workspaces ?? path.join(services.folder, 'workspaces'),
      };
      const output = outputOf(config, database);
      const urls = workerUrls(config, { databaseUrl: services.databaseUrl, poolLimits: { limits: FROZEN_LIMITS } });
      for (const line of describeEnvFile(envFile)) output.note(line);
      await migrateAtStart(urls, (line) => output.note(line));
      const setting = { folder, envFile: file, services: services.describe };
      return await untilStopped(output, setting, fixed, opens);
    } finally {
      await database.close();
    }
  } finally {
    await services.stop();
  }
}

function isPretty(): boolean {
  return process.stdout.isTTY && process.env['NODE_ENV'] !== 'production';
}

function outputOf({ logLevel }: Config, { db }: Database): DevOutput {
  if (!isPretty()) return jsonOutput(createLog(logLevel));
  const isVerbose = logLevel === 'debug' || logLevel === 'trace';
  return prettyOutput(openScreen(process), (id) => endedJob(db, id), isVerbose);
}

/** `fixed`: variables of the processes that a change of `.env` does not change. */
async function untilStopped(
  output: DevOutput,
  setting: Setting,
  fixed: Readonly<Record<string, string>>,
  opens: boolean,
): Promise<number> {
  const { folder } = setting;
  const always = [envFileIn(folder), path.join(folder, 'nightshift.config.ts')];
  let isFirst = true;
  /** Those that the last process loaded that loaded any. */
  let known: readonly string[] = [];
  const env = (): Environment => ({ ...readEnvFile(folder, process.env).env, ...fixed });
  const watched = new WatchedFiles((changed) => {
    output.changed(changed);
    processes.renew();
  });
  const processes = new DevProcesses(
    {
      line: (text) => output.line(text),
      loading: (file) => watched.add(file),
      ready(ready, files) {
        known = files;
        watched.watch([...always, ...known]);
        output.ready(ready, setting, isFirst);
        if (isFirst && opens && isPretty()) void openConsole(ready.url, output);
        isFirst = false;
      },
      failed(message, files, isAlone) {
        // A process that ended before it loaded one has named none: the fault is in those that are known already.
        if (files.length > 0) known = files;
        watched.watch([...always, ...known]);
        output.fault(message);
        output.note(isAlone ? 'Nothing runs. The next change starts it.' : 'The version before this change goes on.');
      },
      crashed(how, again) {
        output.fault(`The process ended (${how}).`);
        output.note(again ? 'It starts again.' : 'Nothing runs. The next change starts it.');
      },
    },
    env,
    isPretty(),
  );
  watched.watch(always);
  processes.renew();
  await stopRequested(() => processes.kill());
  watched.close();
  output.note('stopping: jobs go on with the next start');
  await processes.stop();
  return 0;
}

/** Resolves with the first SIGINT or SIGTERM. A later one calls `kill` and ends the process. */
function stopRequested(kill: () => void): Promise<void> {
  return new Promise((resolve) => {
    let isStopping = false;
    const onSignal = (): void => {
      if (isStopping) {
        kill();
        process.exit(130);
      }
      isStopping = true;
      resolve();
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
  });
}

async function openConsole(address: string, output: DevOutput): Promise<void> {
  if (!(await openBrowser(address))) output.note(`No browser could be opened. Open ${address} yourself.`);
}
