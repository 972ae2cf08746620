/**
 * Runs a job interactively: shows it, prompts for approvals and answers, handles Ctrl-C, and exits with its result. The
 * first Ctrl-C cancels the job and waits for the receipt, or with `keep` leaves the job running. The second exits at
 * once.
 */
import type { Accepted, Client, Job } from '../../client/index.ts';
import { askInPlace } from '../asking/in-place.ts';
import { sendAnswer } from '../asking/answer.ts';
import { commandFor, titleOf, type Item } from '../asking/item.ts';
import type { Cli } from '../cli.ts';
import { EXIT, exitOf, toEnd, type Exit } from '../exit.ts';
import { onSignals } from '../signals-of-person.ts';
import { safe } from '../terminal/safe.ts';
import { answerText } from './answer-text.ts';
import { followJob } from './follow-tree.ts';
import { printEnd } from './progress.ts';

export type RunInteractiveOptions = {
  json?: true;
  keep?: true;
  yes?: true;
  /** False: never prompts. */
  input: boolean;
  /** Undefined: streams if stdout is a terminal. */
  stream?: boolean;
  thinking?: true;
  quiet?: true;
  /** Prints the data of the answer as JSON, and its text only if there is none. */
  printsData?: boolean;
};

/** How long to wait for a cancelled job to stop. */
const RECEIPT_MS = 30_000;

/** Following ends before the job does. */
class LeftEarly extends Error {
  readonly exit: Exit;
  constructor(exit: Exit) {
    super('left');
    this.exit = exit;
  }
}

export async function runInteractive(
  cli: Cli,
  client: Client,
  options: RunInteractiveOptions,
  begin: () => Promise<Accepted>,
): Promise<Exit> {
  const { screen } = cli;
  const leave = new AbortController();
  const sending = begin();
  let cancelling: Exit | null = null;
  let receipt = Promise.resolve();
  const forget = onSignals((exit, count) => {
    if (count > 1) process.exit(exit);
    if (options.keep === true) return leave.abort(new LeftEarly(exit));
    cancelling = exit;
    // If sending fails, the main flow reports the error.
    receipt = sending.then(
      ({ job_id }) => cancel(cli, client, job_id),
      () => undefined,
    );
  });
  try {
    const accepted = await sending;
    if (options.quiet !== true)
      screen.note(screen.sideInk('dim', `job ${accepted.job_id} · context ${accepted.context_id}`));
    const job = await follow(cli, client, accepted, { ...options, leave });
    // The stream may report the end of the job before the receipt arrives.
    await receipt;
    describeEnd(cli, job, options);
    return cancelling !== null && exitOf(job.status) === EXIT.stopped ? cancelling : exitOf(job.status);
  } catch (error) {
    if (!(error instanceof LeftEarly)) throw error;
    const { job_id } = await sending;
    screen.note(screen.sideInk('dim', `The job keeps running. Follow it: nightshift logs -f ${job_id}`));
    return error.exit;
  } finally {
    forget();
  }
}

async function follow(
  { screen }: Cli,
  client: Client,
  accepted: Accepted,
  { leave, ...options }: RunInteractiveOptions & { leave: AbortController },
): Promise<Job> {
  const place = askInPlace(client, screen);
  const streams = options.json !== true && (options.stream ?? screen.isTerminal);
  const after = Number(new URL(accepted.stream_url, 'http://api').searchParams.get('after') ?? 0);
  try {
    return await followJob(
      {
        client,
        screen,
        quiet: options.quiet === true,
        signal: leave.signal,
        asked(item, label) {
          if (options.yes === true && item.kind === 'approval') return void approve(client, screen, item, label);
          if (options.input && screen.canAsk) place.ask(item, label);
          else format(screen, item, label);
          if (!options.input) leave.abort(new LeftEarly(EXIT.waits));
        },
        answered: (toolCallId) => place.dismiss(toolCallId),
      },
      { contextId: accepted.context_id, jobId: accepted.job_id, after },
      streams ? answerText(screen, options.thinking === true) : null,
    );
  } finally {
    place.close();
  }
}

function format(screen: Cli['screen'], item: Item, label: string): void {
  screen.note(`${screen.sideInk('yellow', '?')} ${label}${titleOf(item)}`);
  screen.note(screen.sideInk('dim', `  ${commandFor(item)}`));
}

async function approve(client: Client, screen: Cli['screen'], item: Item, label: string): Promise<void> {
  screen.note(screen.sideInk('dim', `${label}✓ approved (--yes): ${titleOf(item)}`));
  const approval = { kind: 'approval', approval: { decision: 'approve' } } as const;
  await sendAnswer(client, item, approval).catch((error: unknown) => screen.note(safe(String(error))));
}

async function cancel(cli: Cli, client: Client, jobId: string): Promise<void> {
  const { screen } = cli;
  screen.note(screen.sideInk('yellow', 'Cancelling the job … (press Ctrl-C again to exit at once)'));
  try {
    const receipt = await client.jobs.cancel(jobId, { wait_ms: RECEIPT_MS, reason: 'Ctrl-C' });
    if (receipt.stopped_at === null) screen.note(`Stop requested; the job has not stopped yet (${receipt.status}).`);
    else screen.note(screen.sideInk('dim', `The job stopped at ${receipt.stopped_at} (${receipt.status}).`));
  } catch (error) {
    screen.note(safe(toEnd(error, cli.url)?.message ?? String(error)));
  }
}

function describeEnd({ screen }: Cli, job: Job, options: RunInteractiveOptions): void {
  const streamed = options.stream ?? screen.isTerminal;
  if (options.json === true) screen.json(job);
  else if (!streamed && job.output !== null) {
    const { text, data } = job.output;
    const isData = options.printsData === true && job.status === 'completed';
    if (isData) screen.json(data);
    else screen.out(safe(text.endsWith('\n') ? text : `${text}\n`));
  }
  if (options.quiet !== true || job.status !== 'completed') printEnd(screen, job);
}
