/** `logs`: prints the past and, with -f, the new events of a context. */
import type { Command } from 'commander';
import type { Client, StreamEvent } from '../../../client/index.ts';
import { apiCommand, carryOut, type Cli, type Common } from '../../cli.ts';
import { CommandError, EXIT } from '../../exit.ts';
import { findPlace, type Place } from '../../find/find.ts';
import { openEventPrinter } from '../../following/print-event.ts';
import { untilCtrlC } from '../../signals-of-person.ts';
import { wholeNumber } from '../../values.ts';

type Options = Common & { follow?: true; tail?: number; after?: number; deltas?: true };

export function logsCommand(cli: Cli): Command {
  return apiCommand('logs', 'print the events of a context; with -f, follow new ones', [
    'nightshift logs 0199…            # id of a context, job or worker, or a worker’s name',
    'nightshift logs ada -f --tail 20',
    'nightshift logs 0199… -f --json | jq -c .event',
  ])
    .argument('<context|job|worker>', 'context, job or worker; for a job, only the events of that job')
    .option(
      '-f, --follow',
      'follow new events until Ctrl-C or the end of the job; reconnects when the connection is lost',
    )
    .option('-n, --tail <n>', 'start this many entries before the end', wholeNumber(0, 1_000_000_000))
    .option('--after <number>', 'start after the entry with this number', wholeNumber(0, 1_000_000_000))
    .option('--deltas', 'with -f and --json: include deltas of partial messages')
    .action((named: string, options: Options) =>
      carryOut(cli, options, async (client) => {
        const place = await findPlace(client, named);
        if (place.jobId !== null && (options.tail ?? options.after) !== undefined)
          throw new CommandError(
            EXIT.usage,
            '--tail and --after cannot be used with a job: all its events are printed.',
          );
        return untilCtrlC((signal) => logs(cli, client, place, { ...options, signal }));
      }),
    );
}

async function logs(
  cli: Cli,
  client: Client,
  { contextId, jobId }: Place,
  { signal, ...options }: Options & { signal: AbortSignal },
): Promise<void> {
  const head = await client.contexts.head(contextId, { signal });
  const first = options.after ?? 0;
  const after = options.tail === undefined ? first : Math.max(first, head - options.tail);
  const events = client.contexts.events(contextId, {
    after,
    signal,
    ...(options.follow === true ? {} : { upto: head }),
    until: ({ event, data }) => event === 'JobFinished' && data.job_id === jobId,
    onConnection: (lost) => {
      if (lost !== null) cli.screen.note(cli.screen.sideInk('yellow', 'Connection lost, reconnecting …'));
    },
  });
  const format = openEventPrinter(client, cli.screen);
  let hasStarted = jobId === null;
  for await (const event of events) {
    hasStarted ||= event.event === 'JobStarted' && event.data.job_id === jobId;
    if (!hasStarted || (isDelta(event) && options.deltas !== true)) continue;
    if (options.json === true) cli.screen.jsonLine({ id: event.id, event: event.event, data: event.data });
    else cli.screen.out(await format(event));
  }
}

function isDelta({ event }: StreamEvent): boolean {
  return event === 'ContentDelta' || event === 'ContentSnapshot' || event === 'ThinkingDelta';
}
