// The API on a real socket.
import { NO_TELEMETRY } from '../../../src/core/tracing/telemetry.ts';
import { pino } from 'pino';
import { localRates } from '../../../src/bus/request-rates.ts';
import { startServer, type Server } from '../../../src/api/server/server.ts';
import { parseEnvironment } from '../../../src/config/config.ts';
import type { Environment } from '../../../src/config/environment.ts';
import { NO_WEBHOOKS } from '../../services/webhooks.ts';
import { ABOUT, type Api } from '../harness.ts';
import { referenceFolder } from '../../../src/package-files.ts';

/** A request is not cut off, however slow the machine is, unless `env` says so. */
export const configOf = (env: Environment = {}) =>
  parseEnvironment({ PORT: '0', NIGHTSHIFT_REQUEST_MS: '60000', ...env });

/** Of an installation without tools and servers of its own, without a log. `over`: what is different. */
export function listen(
  { commands }: Pick<Api, 'commands'>,
  over: Partial<Parameters<typeof startServer>[0]> = {},
): Promise<Server> {
  return startServer({
    ...commands,
    config: configOf(),
    roles: new Map(),
    parameters: [],
    about: ABOUT,
    webhooks: NO_WEBHOOKS,
    requestRates: localRates(),
    telemetry: NO_TELEMETRY,
    consoleFolder: null,
    referenceFolder: referenceFolder(),
    checkInput: async () => null,
    explain: () => null,
    logger: pino({ level: 'silent' }),
    ...over,
  });
}
