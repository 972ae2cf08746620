/** The server commands, listed here for the help. `main.ts` starts them before this module is loaded. */
import { Command } from 'commander';
import { examplesText, type Cli } from '../../cli.ts';
import { SERVER_OPTIONS, isServer, serve } from '../../serve.ts';

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
} as const;

export function serverCommands(cli: Cli): Command[] {
  return Object.entries(SUMMARIES).map(([name, [summary, example]]) =>
    withOptions(new Command(name), SERVER_OPTIONS[name] ?? [])
      .description(summary)
      .addHelpText('after', examplesText([example]))
      .action(async () => {
        if (isServer(name)) cli.exit = (await serve(name, [])) === 0 ? 0 : 1;
      }),
  );
}

/** For the help and the completion. */
function withOptions(command: Command, options: readonly string[]): Command {
  return options.reduce((made, option) => made.option(option, OPTIONS[option]), command);
}

const OPTIONS: Readonly<Record<string, string>> = {
  '--no-open': 'do not open the console in a browser',
  '--status': 'tell whether the database is up to date; exit with 1 if not',
  '--dry-run': 'tell which migrations would be applied',
};
