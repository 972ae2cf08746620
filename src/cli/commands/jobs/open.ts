/** `open`: opens the console at a job or a context, or prints its address. */
import type { Command } from 'commander';
import { apiCommand, carryOut, type Cli, type Common } from '../../cli.ts';
import { findPlace, type Place } from '../../find/find.ts';
import { openBrowser } from '../../open-browser.ts';

type Options = Omit<Common, 'json'> & { print?: true };

export function openCommand(cli: Cli): Command {
  return apiCommand(
    'open',
    'open the console in a browser: at a context, a job, a worker, or its first page',
    ['nightshift open 0199…', 'nightshift open ada', 'nightshift open 0199… --print | xclip'],
    { json: false },
  )
    .argument('[context|job|worker]', 'ids, or the name of a worker')
    .option('--print', 'only print the address; always so if stdout is not a terminal')
    .action((named: string | undefined, options: Options) =>
      carryOut(cli, options, async (client) => {
        const path = named === undefined ? '/' : pathOf(await findPlace(client, named));
        const address = `${cli.url.replace(/\/+$/, '')}${path}`;
        cli.screen.out(`${address}\n`);
        if (options.print === true || !cli.screen.isTerminal) return;
        if (!(await openBrowser(address))) cli.screen.note('No browser could be opened. Open the address yourself.');
      }),
    );
}

function pathOf({ contextId, jobId }: Place): string {
  return jobId === null ? `/contexts/${contextId}` : `/jobs/${jobId}`;
}
