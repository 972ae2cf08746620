/** Starts the HTTP server. Without API keys it listens only on a loopback address. */
import { ConfigError, type Config } from '../../config/config.ts';
import { openStreamHub } from '../../events/stream-hub.ts';
import { listenError } from './busy-port.ts';
import { isLoopback } from '../../config/loopback.ts';
import { isSecured } from '../../config/secured.ts';
import { createApp } from './app.ts';
import { openCatalog, type Catalog } from './catalog.ts';
import type { ApiConfig, App, AppPorts, Mount } from './ports.ts';
import { trackUnused } from './unused-connections.ts';

type AssembledPorts = Omit<AppPorts, 'streamHub' | 'catalog' | 'mount'> &
  Pick<Catalog, 'checkInput' | 'parameters'> & {
    /** Roles of the config file. */
    roles: Catalog['fileRoles'];
  };

type ServerPorts = AssembledPorts & { config: ApiConfig & Pick<Config, 'host' | 'port'> };

export type Server = {
  /** The address of the API. */
  url: string;
  /** Finishes current requests, answers waiting ones at once, and stops. Does not close the ports it was given. */
  close(): Promise<void>;
};

export async function startServer(ports: ServerPorts): Promise<Server> {
  const { host, port } = ports.config;
  if (!isSecured(ports.config) && !isLoopback(host)) {
    throw new ConfigError([
      `HOST ${host} is not a loopback address, and no API keys are set: set NIGHTSHIFT_API_KEYS, NIGHTSHIFT_ADMIN_KEY or NIGHTSHIFT_OIDC_ISSUER, or set HOST to 127.0.0.1`,
    ]);
  }
  expectLongKeys(ports);
  expectGrants(ports);
  const app = await openApp(ports, null);
  const hangUpUnused = trackUnused(app.server);
  app.addHook('preClose', async () => hangUpUnused());
  try {
    await app.listen({ host, port });
  } catch (error) {
    await app.close();
    throw listenError(error, host, port);
  }
  const received = app.server.address();
  const bound = typeof received === 'object' && received !== null ? received.port : port;
  return { url: urlOf(host, bound), close: () => app.close() };
}

/** The application without a server, with what belongs to it alone. */
export function openApp(ports: AssembledPorts, mount: Mount | null): Promise<App> {
  return createApp({
    ...ports,
    streamHub: openStreamHub(ports.database, ports.bus),
    catalog: openCatalog(ports.database, ports.times, {
      fileRoles: ports.roles,
      checkInput: ports.checkInput,
      parameters: ports.parameters,
      defaultModel: ports.config.defaultModel,
    }),
    mount,
  });
}

/** The minimum length of a key in characters. */
const LONG_KEY = 16;

/** Null: no key is short enough to guess. */
export function shortKeyFault({ apiKeys }: Pick<Config, 'apiKeys'>): string | null {
  const short = apiKeys.filter(({ key }) => key.length < LONG_KEY).map(({ tenant }) => tenant);
  return short.length === 0
    ? null
    : `NIGHTSHIFT_API_KEYS has keys with fewer than ${LONG_KEY} characters (tenants: ${[...new Set(short)].join(', ')}): generate keys with \`openssl rand -hex 32\``;
}

/** Refuses keys that are short enough to guess. On a loopback address it only logs a warning. */
function expectLongKeys({ config, logger }: ServerPorts): void {
  const warning = shortKeyFault(config);
  if (warning === null) return;
  if (!isLoopback(config.host)) throw new ConfigError([warning]);
  logger.warn(warning);
}

function expectGrants({ config: { oidc, oidcSettings }, logger }: ServerPorts): void {
  if (oidc === null || oidcSettings.grants.length > 0) return;
  logger.warn('NIGHTSHIFT_OIDC_ISSUER is set, but no group may sign in: list them in oidc.grants of the config file');
}

function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
