/** The server commands. Each module is loaded only when its command runs. */
import { describeError } from './describe-error.ts';

const SERVERS = {
  start: async () => (await import('../platform/start.ts')).start(),
  dev: async (args) => (await import('./dev/dev.ts')).dev({ opens: !args.includes('--no-open') }),
  // Started by `dev` only.
  'dev-process': async () => (await import('./dev/dev-process.ts')).runDevProcess(),
  api: async () => (await import('../platform/production.ts')).runApi(),
  worker: async () => (await import('../platform/production.ts')).runWorker(),
  migrate: async (args) => (await import('./migrate.ts')).migrateCommand(args),
  submissions: async (args) => (await import('./submissions.ts')).submissionsCommand(args),
  outbox: async (args) => (await import('./outbox/outbox.ts')).outboxCommand(args),
  'worker-health': async () => (await import('./worker-health.ts')).workerHealth(),
} as const satisfies Record<string, (args: readonly string[]) => Promise<number>>;

/** The options of server commands. Most have none. */
export const SERVER_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  migrate: ['--status', '--dry-run'],
  submissions: ['--role <role>', '--tenant <tenant>'],
  outbox: [
    '--database-url <url>',
    '--schema <schema>',
    '--grant <role...>',
    '--relay <role...>',
    '--dry-run',
    '--force',
  ],
  dev: ['--no-open'],
};

/** These check their arguments themselves. */
export const CHECKS_ARGUMENTS: readonly string[] = ['submissions', 'outbox'];

export function isServer(name: string): name is keyof typeof SERVERS {
  return Object.hasOwn(SERVERS, name);
}

/** Returns the exit code. */
export async function serve(name: keyof typeof SERVERS, args: readonly string[]): Promise<number> {
  const options = SERVER_OPTIONS[name] ?? [];
  if (!CHECKS_ARGUMENTS.includes(name) && (args.length > 1 || args.some((arg) => !options.includes(arg)))) {
    const taken = options.length === 0 ? 'no arguments' : `${options.join(' or ')} alone`;
    process.stderr.write(
      `nightshift ${name} takes ${taken}. Configure it with environment variables (see .env.example).\n`,
    );
    return 2;
  }
  try {
    return await SERVERS[name](args);
  } catch (error) {
    process.stderr.write(`${describeError(error)}\n`);
    return 1;
  }
}
