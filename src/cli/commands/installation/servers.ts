/** The server commands, listed here for the help. `main.ts` starts them before this module is loaded. */
import { Command } from 'commander';
import { examplesText, type Cli } from '../../cli.ts';
import { CHECKS_ARGUMENTS, SERVER_OPTIONS, isServer, serve } from '../../serve.ts';

const SUMMARIES = {
  dev: [
    'like start, but loads the config file and its imports again when they change; reads .env, opens the console',
    'nightshift dev --no-open',
  ],
  start: [
    'run the API and a worker in one process; starts its own PostgreSQL and Redis if no URLs are set',
    'nightshift start',
  ],
  api: ['run an API process', 'DATABASE_URL=… REDIS_URL=… nightshift api'],
  worker: ['run a worker process', 'DATABASE_URL=… REDIS_URL=… nightshift worker'],
  'worker-health': [
    'exit with code 0 if a worker process on this host is alive; for container health checks',
    'DATABASE_URL=… nightshift worker-health',
  ],
  migrate: [
    'apply the database migrations, tell which, and exit; --status and --dry-run change nothing',
    'DATABASE_URL=… nightshift migrate --status',
  ],
  submissions: [
    'let a PostgreSQL role submit jobs in its own transactions: grant, revoke or list',
    'DATABASE_URL=… nightshift submissions grant --role shop --tenant acme',
  ],
  outbox: [
    'make an outbox in the database of a service, for worker processes to relay: install, status, retry or remove',
    'NIGHTSHIFT_OUTBOX_URL=postgres://… nightshift outbox install --grant shop_web',
  ],
} as const;

export function serverCommands(cli: Cli): Command[] {
  return Object.entries(SUMMARIES).map(([name, [summary, example]]) =>
    withOptions(CHECKS_ARGUMENTS.includes(name) ? new Command(name).argument('<action>') : new Command(name), name)
      .description(summary)
      .addHelpText('after', examplesText([example]))
      .action(async () => {
        if (isServer(name)) cli.exit = (await serve(name, [])) === 0 ? 0 : 1;
      }),
  );
}

/** For the help and the completion. */
function withOptions(command: Command, name: string): Command {
  return (SERVER_OPTIONS[name] ?? []).reduce((made, option) => made.option(option, OPTIONS[option]), command);
}

const OPTIONS: Readonly<Record<string, string>> = {
  '--no-open': 'do not open the console in a browser',
  '--status': 'tell whether the database is up to date; exit with 1 if not',
  '--dry-run': 'change nothing: tell which migrations would be applied, or print the SQL of the outbox',
  '--database-url <url>':
    'database of the service; default: NIGHTSHIFT_OUTBOX_URL, and of status: each outbox of the config file',
  '--schema <schema>': 'schema of the outbox; default: NIGHTSHIFT_DATABASE_SCHEMA, or nightshift',
  '--grant <role...>': 'role of PostgreSQL that may submit jobs; may be repeated',
  '--relay <role...>': 'role with which worker processes relay the outbox; may be repeated',
  '--force': 'remove the outbox with the rows that it has',
  '--role <role>': 'role of PostgreSQL',
  '--tenant <tenant>': 'tenant for which it may submit jobs',
};
