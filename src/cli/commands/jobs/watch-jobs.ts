/**
 * `jobs --watch`: reads the list again and again until Ctrl-C. A terminal shows it in place; a pipe gets each list that
 * differs from the one before, or with `--json` each job that changed. While the API is away, the last list stays.
 */
import { setTimeout } from 'node:timers/promises';
import { NightshiftError, type Client, type ErrorCode, type Job, type Operations } from '../../../client/index.ts';
import type { Cli } from '../../cli.ts';
import type { Exit } from '../../exit.ts';
import { first, listText, type List } from '../../list.ts';
import { untilCtrlC } from '../../signals-of-person.ts';
import { openLiveView } from '../../terminal/live-view.ts';

type Query = NonNullable<Operations['GET /api/jobs']['query']>;
/** `interval` in milliseconds. */
type Watched = { interval: number; limit: number; json?: true; list: List<Job> & { filtered: boolean } };

/** Codes of errors that pass by themselves, for example when the API is started again. */
const AWAY: readonly ErrorCode[] = ['unreachable', 'timed_out', 'unavailable'];

export async function watchJobs(cli: Cli, client: Client, query: Query, watched: Watched): Promise<Exit> {
  const { interval, limit } = watched;
  const show = showOf(cli, watched);
  let shown = false;
  try {
    return await untilCtrlC(async (signal) => {
      while (!signal.aborted) {
        const read = await first(client.jobs.list(query, { signal }), limit).catch((error: unknown) => {
          if (signal.aborted) return 'ended';
          if (shown && error instanceof NightshiftError && AWAY.includes(error.code)) return 'lost';
          throw error;
        });
        if (read === 'lost') show.lost();
        else if (read !== 'ended') show.jobs(read);
        shown = true;
        await setTimeout(interval, null, { signal }).catch(() => undefined);
      }
    });
  } finally {
    show.end();
  }
}

/** `lost`: the API is away; may be called again before the next list. */
type Show = { jobs(jobs: readonly Job[]): void; lost(): void; end(): void };

function showOf(cli: Cli, { json, list }: Watched): Show {
  if (json === true) return notingLosses(cli, changedJobs(cli));
  return cli.screen.isTerminal ? liveList(cli, list) : notingLosses(cli, changedList(cli, list));
}

const LOST = 'Connection lost, reconnecting …';

/** Draws the list in place, and leaves the last one on the screen. */
function liveList(cli: Cli, list: Watched['list']): Show {
  const { screen } = cli;
  const view = openLiveView(screen);
  let text = (): string => '';
  return {
    jobs(jobs) {
      text = () => listText(cli, jobs, list);
      view.show(text);
    },
    // Above the list: a long one is cut at the end of the screen.
    lost: () => view.show(() => `${screen.ink('yellow', LOST)}\n${text()}`),
    end() {
      view.close();
      screen.out(text());
    },
  };
}

/** Tells once on stderr that the API is away, and once that it is back. */
function notingLosses({ screen }: Cli, show: (jobs: readonly Job[]) => void): Show {
  let isLost = false;
  return {
    jobs(jobs) {
      if (isLost) screen.note(screen.sideInk('dim', 'Connected again.'));
      isLost = false;
      show(jobs);
    },
    lost() {
      if (!isLost) screen.note(screen.sideInk('yellow', LOST));
      isLost = true;
    },
    end: () => undefined,
  };
}

/** Prints the list each time that it changed. */
function changedList(cli: Cli, list: Watched['list']): (jobs: readonly Job[]) => void {
  let before = '';
  return (jobs) => {
    const now = JSON.stringify(jobs);
    if (now !== before) cli.screen.out(listText(cli, jobs, list));
    before = now;
  };
}

/** Prints each job as a line, each time that it changed. */
function changedJobs({ screen }: Cli): (jobs: readonly Job[]) => void {
  const printed = new Map<string, string>();
  return (jobs) => {
    for (const job of jobs.toReversed()) {
      const text = JSON.stringify(job);
      if (printed.get(job.id) === text) continue;
      printed.set(job.id, text);
      screen.jsonLine(job);
    }
  };
}
