/** The commands that are part of the platform. Each is loaded when it is asked for, and nothing else is. */
export const SERVERS = {
  start: async () => (await import('./start.ts')).start(),
  api: async () => (await import('./production.ts')).runApi(),
  worker: async () => (await import('./production.ts')).runWorker(),
  migrate: async () => (await import('./production.ts')).migrateOnly(),
  'worker-health': async () => (await import('./worker-health.ts')).workerHealth(),
} as const satisfies Record<string, () => Promise<number>>;

export function isServer(name: string): name is keyof typeof SERVERS {
  return Object.hasOwn(SERVERS, name);
}

/** Errors whose message says all there is to know; told apart by name, so that none has to be loaded for it. */
const FOR_PEOPLE = ['ConfigError', 'ConfigFileError', 'ServiceError'];

/** The exit code. */
export async function serve(name: keyof typeof SERVERS, args: readonly string[]): Promise<number> {
  if (args.length > 0) {
    process.stderr.write(`nightshift ${name} takes no arguments: everything is set by the environment.\n`);
    return 2;
  }
  try {
    return await SERVERS[name]();
  } catch (error) {
    if (!(error instanceof Error) || !FOR_PEOPLE.includes(error.name)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 1;
  }
}
