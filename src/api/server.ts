/** The HTTP process's half that listens. Refuses to be heard beyond this machine without keys. */
import type { FastifyBaseLogger } from 'fastify';
import type { CommandPorts } from '../commands/ports.ts';
import { ConfigError } from '../config/config.ts';
import type { Config } from '../config/config.ts';
import type { Role } from '../core/settings.ts';
import { openStreamHub } from '../events/stream-hub.ts';
import type { About } from './about.ts';
import { listenError } from './busy-port.ts';
import { isLoopback, isSecured } from './access.ts';
import { createApp } from './app.ts';
import { openCatalog } from './catalog.ts';
import type { CheckInput } from './catalog.ts';
import type { ApiConfig } from './ports.ts';
import { trackUnused } from './unused-connections.ts';

export type ServerPorts = CommandPorts & {
  config: ApiConfig & Pick<Config, 'host' | 'port'>;
  logger: FastifyBaseLogger;
  /** Of the config file. */
  roles: ReadonlyMap<string, Role>;
  /** Of providers: what the operator allows besides the usual ones. */
  parameters: readonly string[];
  /** By the tools that this process knows. */
  checkInput: CheckInput;
  about: About;
  consoleFolder: string | null;
};

export type Server = {
  /** Where it is heard. */
  url: string;
  /** Answers what is under way, those who wait at once, and ends. What it was given stays open. */
  close(): Promise<void>;
};

export async function startServer(ports: ServerPorts): Promise<Server> {
  const { host, port } = ports.config;
  if (!isSecured(ports.config) && !isLoopback(host)) {
    throw new ConfigError([
      `HOST must be a loopback address, not ${host}: without NIGHTSHIFT_API_KEYS or NIGHTSHIFT_ADMIN_KEY the API listens on this machine only`,
    ]);
  }
  expectLongKeys(ports);
  const app = await createApp({
    ...ports,
    streamHub: openStreamHub(ports.database, ports.bus),
    catalog: openCatalog(ports.database, ports.times, {
      fileRoles: ports.roles,
      checkInput: ports.checkInput,
      parameters: ports.parameters,
      defaultModel: ports.config.defaultModel,
    }),
  });
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

/** Characters that a key has at least. */
const LONG_KEY = 16;

/** Keys that can be tried out are no keys. On this machine alone they are for trying things out, and there is a warning. */
function expectLongKeys({ config, logger }: ServerPorts): void {
  const short = config.apiKeys.filter(({ key }) => key.length < LONG_KEY).map(({ tenant }) => tenant);
  if (short.length === 0) return;
  const words = `NIGHTSHIFT_API_KEYS has keys of less than ${LONG_KEY} characters (of ${[...new Set(short)].join(', ')}): make some with \`openssl rand -hex 32\``;
  if (!isLoopback(config.host)) throw new ConfigError([words]);
  logger.warn(words);
}

function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
