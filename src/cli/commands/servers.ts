/** The platform's own processes, for the help; `main.ts` runs them before this is loaded. */
import { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { examplesText } from '../cli.ts';
import { isServer, serve } from '../serve.ts';

const SUMMARIES = {
  start: ['API and worker in one process, with services of its own where none are named', 'nightshift start'],
  api: ['the API process', 'DATABASE_URL=… REDIS_URL=… nightshift api'],
  worker: ['a worker process', 'DATABASE_URL=… REDIS_URL=… nightshift worker'],
  'worker-health': [
    'ends with 0 where a worker process of this host is alive, for health checks of containers',
    'DATABASE_URL=… nightshift worker-health',
  ],
  migrate: ['brings the database up to date, and ends', 'DATABASE_URL=… nightshift migrate'],
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
