/** The server commands, listed here for the help. `main.ts` starts them before this module is loaded. */
import { Command } from 'commander';
import { examplesText, type Cli } from '../../cli.ts';
import { isServer, serve } from '../../serve.ts';

const SUMMARIES = {
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
  migrate: ['apply the database migrations and exit', 'DATABASE_URL=… nightshift migrate'],
} as const;

export function serverCommands(cli: Cli): Command[] {
  return Object.entries(SUMMARIES).map(([name, [summary, example]]) =>
    new Command(name)
      .description(summary)
      .addHelpText('after', examplesText([example]))
      .action(async () => {
        if (isServer(name)) cli.exit = (await serve(name, [])) === 0 ? 0 : 1;
      }),
  );
}
