/** Runs a chat session. All answers come from one event stream of the context, including answers to other clients. */
import type { Client } from '../../client/index.ts';
import { itemOf, type Item } from '../asking/item.ts';
import { choicesOf } from '../asking/answer.ts';
import { printItem } from '../asking/in-place.ts';
import type { Cli } from '../cli.ts';
import { EXIT, toEnd, type Exit } from '../exit.ts';
import { answerText, textOf } from '../following/answer-text.ts';
import { followChild, showEvent, type FollowedTree } from '../following/follow-tree.ts';
import { openProgress, printEnd } from '../following/progress.ts';
import { onSignals } from '../signals-of-person.ts';
import { safe } from '../terminal/safe.ts';
import { carryOutLine, interrupt, type Chat } from './actions.ts';
import { openLines, type Lines } from './lines.ts';
import { readLine } from './slash.ts';
import { openChatState } from './chat-state.ts';

type ChatOptions = { history: number; thinking?: true; quiet?: true };

export async function runChat(cli: Cli, client: Client, contextId: string, options: ChatOptions): Promise<Exit> {
  const { screen } = cli;
  const over = new AbortController();
  const state = openChatState();
  const chat: Chat = { screen, client, contextId, state };
  const after = await client.contexts.head(contextId);
  if (options.quiet !== true) screen.note(screen.sideInk('dim', `context ${contextId} · /help lists the commands`));
  const earlier = await showHistory(chat, options.history);
  const lines = openLines(cli, earlier);
  let exit: Exit = EXIT.completed;

  const leave = (as: Exit): void => {
    exit = as;
    if (state.isBusy())
      screen.note(screen.sideInk('dim', `The job keeps running. Follow it: nightshift logs -f ${contextId}`));
    if (lines.isTerminal) screen.note('');
    lines.close();
    over.abort();
  };
  const forget = onSignals((as, count) => {
    if (count > 1 || !state.isBusy()) return leave(as);
    void interrupt(chat, 'keep').catch((error: unknown) => printFault(cli, error));
  });
  const listening = listen(chat, { after, options, signal: over.signal, prompt: lines.prompt });
  // When the stream fails for good, the chat ends.
  listening.catch(() => leave(EXIT.failed));
  lines.prompt();
  try {
    await readLines(cli, chat, lines, listening);
    if (!over.signal.aborted) leave(exit);
    await listening;
    return exit;
  } finally {
    forget();
    lines.close();
  }
}

/** Carries out the lines until the input ends or a line quits the chat. */
async function readLines(cli: Cli, chat: Chat, lines: Lines, listening: Promise<void>): Promise<void> {
  const { state } = chat;
  for await (const line of lines) {
    const read = readLine(line);
    if (read.kind === 'quit') break;
    await carryOutLine(chat, line, read).catch((error: unknown) => printFault(cli, error));
    // With piped input, the next line is sent after the answer to the previous one is complete.
    if (!lines.isTerminal) await Promise.race([state.rest(), listening]);
    else if (!state.isBusy() || state.nextItem() !== null) lines.prompt();
  }
}

function printFault({ screen, url }: Cli, error: unknown): void {
  const end = toEnd(error, url);
  if (end === null) throw error;
  screen.note(screen.sideInk('red', safe(end.message)));
}

type Listening = {
  after: number;
  options: ChatOptions;
  signal: AbortSignal;
  prompt: () => void;
};

async function listen(
  { screen, client, contextId, state }: Chat,
  { after, options, signal, prompt }: Listening,
): Promise<void> {
  const answer = answerText(screen, options.thinking === true);
  const quiet = options.quiet === true;
  const progress = quiet ? null : openProgress(client, screen, '');
  const tree: FollowedTree = {
    client,
    screen,
    quiet,
    signal,
    children: new Set(),
    asked(item, label) {
      state.ask(item);
      printQuestion(screen, item, label);
      prompt();
    },
    answered: (toolCallId) => state.drop(toolCallId),
  };
  const onConnection = (lost: object | null): void => {
    if (lost !== null) screen.note(screen.sideInk('yellow', 'Connection lost, reconnecting …'));
  };
  for await (const event of client.contexts.events(contextId, { after, signal, onConnection })) {
    await showEvent(client, event, answer, progress);
    if (event.event === 'WorkerSpawned') followChild(tree, event.data, '');
    if (event.event === 'JobFinished' && event.data.status !== 'completed')
      printEnd(screen, await client.jobs.get(event.data.job_id));
    const item = itemOf(event);
    if (item !== null) printQuestion(screen, item, '');
    state.receive(event);
    if (event.event === 'JobFinished' || item !== null) prompt();
  }
  await Promise.all(tree.children);
}

function printQuestion(screen: Cli['screen'], item: Item, label: string): void {
  printItem(screen, item, label);
  screen.note(screen.sideInk('dim', `  ${choicesOf(item)}`));
}

/** Shows the last messages. Returns the earlier user inputs, newest first. */
async function showHistory({ screen, client, contextId }: Chat, most: number): Promise<string[]> {
  if (most === 0) return [];
  const { data } = await client.contexts.messages.list(contextId, { order: 'desc', limit: 100 }).page();
  const texts = data.map(({ role, content }) => ({ role, text: textOf(content) }));
  for (const { role, text } of texts.slice(0, most).toReversed()) {
    if (text !== '' && role !== 'tool')
      screen.note(role === 'user' ? screen.sideInk('cyan', `› ${safe(text)}`) : safe(text));
  }
  return texts.filter(({ role, text }) => role === 'user' && text !== '').map(({ text }) => text.replaceAll('\n', ' '));
}
