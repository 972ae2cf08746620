/** `logs`: prints the past and, with -f, the new events of a context, and what its tools logged. */
import { setTimeout as pause } from 'node:timers/promises';
import { Option, type Command } from 'commander';
import type { Client, Job, LogEntry, Message, StreamEvent } from '../../../client/index.ts';
import { apiCommand, carryOut, type Cli, type Common } from '../../cli.ts';
import { CommandError, EXIT } from '../../exit.ts';
import { findPlace, type Place } from '../../find/find.ts';
import { CallLogs } from '../../following/call-logs.ts';
import { openEventPrinter } from '../../following/print-event.ts';
import { untilCtrlC } from '../../signals-of-person.ts';
import type { Screen } from '../../terminal/screen.ts';
import { wholeNumber } from '../../values.ts';

type Level = LogEntry['level'];
type Options = Common & { follow?: true; tail?: number; after?: number; deltas?: true; level?: Level };

const LEVELS: readonly Level[] = ['debug', 'info', 'warn', 'error'];

/** Of a job that may have calls without a result. */
const ACTIVE: Job['status'][] = ['running', 'waiting'];

/** How often the log of a running job is read, in milliseconds. */
const EVERY_MS = 1_000;

/** The last entries of a job are stored a moment after its end, in milliseconds. */
const LAST_STORED_MS = 300;

export function logsCommand(cli: Cli): Command {
  return apiCommand('logs', 'print the events of a context and what its tools logged; with -f, follow new ones', [
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
    .addOption(
      new Option('--level <level>', 'of what tools logged, print only this level or a more important one').choices(
        LEVELS,
      ),
    )
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
  const { screen } = cli;
  const events = client.contexts.events(contextId, {
    after,
    signal,
    ...(options.follow === true ? {} : { upto: head }),
    until: ({ event, data }) => event === 'JobFinished' && data.job_id === jobId,
    onConnection: (lost) => {
      if (lost !== null) screen.note(screen.sideInk('yellow', 'Connection lost, reconnecting …'));
    },
  });
  const output = outputOf(screen, options);
  const callLogs = new CallLogs(client, options.level ?? 'debug');
  const running = new RunningJob(callLogs, output, head, options.follow === true);
  try {
    let hasStarted = jobId === null;
    for await (const event of events) {
      hasStarted ||= event.event === 'JobStarted' && event.data.job_id === jobId;
      if (hasStarted && (!isDelta(event) || options.deltas === true)) await show(client, event, callLogs, output);
      if (hasStarted) await running.receive(event);
    }
    if (options.follow === true) return;
    // Calls without a result have no event that prints their log.
    const active = await client.jobs.list({ context_id: contextId, status: ACTIVE, limit: 1 }).page();
    for (const { id } of active.data) if (jobId === null || id === jobId) output.entries(await callLogs.ofJob(id));
  } finally {
    running.stop();
  }
}

type Completed = Extract<StreamEvent, { event: 'MessageCompleted' }>;

type Output = {
  /** Whether it needs the message of an event. */
  needs(event: Completed): boolean;
  message(event: Completed, message: Message | null): void;
  event(event: Exclude<StreamEvent, Completed>): void;
  entries(entries: readonly LogEntry[]): void;
};

function outputOf(screen: Screen, { json }: Options): Output {
  if (json === true) {
    const line = ({ id, event, data }: Pick<StreamEvent, 'id' | 'event' | 'data'>): void =>
      screen.jsonLine({ id, event, data });
    return {
      needs: ({ data }) => data.type === 'tool_result',
      message: line,
      event: line,
      entries: (entries) => entries.forEach((data) => screen.jsonLine({ id: null, event: 'LogEntry', data })),
    };
  }
  const printer = openEventPrinter(screen);
  return {
    needs: () => true,
    message: ({ id }, message) => screen.out(message === null ? '' : printer.message(id, message)),
    event: (event) => screen.out(printer.event(event)),
    entries: (entries) => screen.out(entries.map((entry) => printer.entry(entry)).join('')),
  };
}

/** The log of a call comes before its result. */
async function show(client: Client, event: StreamEvent, callLogs: CallLogs, output: Output): Promise<void> {
  if (event.event !== 'MessageCompleted') return output.event(event);
  const { context_id, message_id } = event.data;
  const message = output.needs(event) ? await client.contexts.messages.get(context_id, message_id) : null;
  output.entries(message === null ? [] : await callLogs.ofResult(message));
  output.message(event, message);
}

/** With -f: prints what the tools of the running job log, once a second. */
class RunningJob {
  readonly #callLogs: CallLogs;
  readonly #output: Output;
  /** Older events are printed first. */
  readonly #head: number;
  readonly #follows: boolean;
  #jobId: string | null = null;
  #timer: NodeJS.Timeout | null = null;
  #reading: Promise<void> | null = null;

  constructor(callLogs: CallLogs, output: Output, head: number, follows: boolean) {
    this.#callLogs = callLogs;
    this.#output = output;
    this.#head = head;
    this.#follows = follows;
  }

  async receive({ id, event, data }: StreamEvent): Promise<void> {
    if (!this.#follows) return;
    if (event === 'JobStarted') this.#jobId = data.job_id;
    if (id !== null && id >= this.#head) this.#timer ??= setInterval(() => void this.#print(), EVERY_MS);
    if (event !== 'JobFinished' || id === null || id <= this.#head) return;
    await this.#print();
    await pause(LAST_STORED_MS);
    await this.#print();
    this.#jobId = null;
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  /** If the API does not answer, the next time finds what is missing. */
  async #print(): Promise<void> {
    if (this.#jobId === null) return;
    this.#reading ??= this.#printOf(this.#jobId).finally(() => (this.#reading = null));
    await this.#reading;
  }

  async #printOf(jobId: string): Promise<void> {
    this.#output.entries(await this.#callLogs.ofJob(jobId).catch(() => []));
  }
}

function isDelta({ event }: StreamEvent): boolean {
  return event === 'ContentDelta' || event === 'ContentSnapshot' || event === 'ThinkingDelta';
}
