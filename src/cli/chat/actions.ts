/** Carries out one line of a chat. */
import type { Client, Interrupt } from '../../client/index.ts';
import { choicesOf, readAnswer, sendAnswer } from '../asking/answer.ts';
import type { Item } from '../asking/item.ts';
import { oneLine } from '../terminal/safe.ts';
import type { Screen } from '../terminal/screen.ts';
import { count } from '../terminal/time.ts';
import { SLASH_HELP, type Line } from './slash.ts';
import type { ChatState } from './chat-state.ts';

const STOPPED_WITHIN_MS = 10_000;

/** A chat session: its context, and what it waits for. */
export type Chat = { screen: Screen; client: Client; contextId: string; state: ChatState };

/** Carries out one line. `line`: exactly as typed. */
export async function carryOutLine(chat: Chat, line: string, read: Line): Promise<void> {
  const { screen, client, contextId, state } = chat;
  const item = state.nextItem();
  // While an item waits for the person, the next line answers it.
  if (item !== null && (read.kind === 'text' || read.kind === 'nothing')) return answer(chat, item, line);
  switch (read.kind) {
    case 'text':
      return send(chat, read.text, false);
    case 'steer':
      return send(chat, read.text, true);
    case 'interrupt':
      return interrupt(chat, read.mode);
    case 'branch':
      return branch(chat, read.name);
    case 'retry':
      return state.sent((await client.contexts.retry(contextId)).job_id);
    case 'context':
      return printPlace(chat);
    case 'help':
      return screen.note(SLASH_HELP.trimEnd());
    case 'wrong':
      return note(chat, read.why);
    case 'nothing':
    case 'quit':
  }
}

function note({ screen }: Chat, line: string): void {
  screen.note(screen.sideInk('dim', line));
}

export async function interrupt(chat: Chat, mode: NonNullable<Interrupt['mode']>): Promise<void> {
  const { client, contextId } = chat;
  note(chat, 'Interrupting …');
  const ended = await client.contexts.interrupt(contextId, { mode, wait_ms: STOPPED_WITHIN_MS });
  if (ended.job_id === null) return note(chat, 'No job is running.');
  const removed = ended.removed_messages.length;
  if (removed > 0) note(chat, `${count(removed, 'message')} removed.`);
  for (const { name, status } of ended.effects) note(chat, `Had already started: ${oneLine(name)} (${status}).`);
}

async function send({ client, contextId, state }: Chat, content: string, steer: boolean): Promise<void> {
  const message = { content, ...(steer ? { delivery: 'steer' as const } : {}) };
  state.sent((await client.contexts.send(contextId, message)).job_id);
}

async function answer(chat: Chat, item: Item, line: string): Promise<void> {
  const read = readAnswer(item, line);
  if (read === null) return note(chat, `  ${choicesOf(item)}`);
  chat.state.drop(item.tool_call_id);
  if (read === 'later') return;
  if (!(await sendAnswer(chat.client, item, read))) note(chat, 'It was already answered elsewhere.');
}

/** Lists the branches, or switches to one, which is created if the context has none of this name. */
async function branch(chat: Chat, name: string | null): Promise<void> {
  const { screen, client, contextId } = chat;
  const branches = await client.contexts.branches.list(contextId, { limit: 200 }).all();
  if (name === null) {
    for (const { name, active, message_count } of branches)
      screen.note(`${active ? '*' : ' '} ${oneLine(name)} ${screen.sideInk('dim', count(message_count, 'message'))}`);
  } else if (branches.some((one) => one.name === name)) {
    await client.contexts.branches.switch(contextId, name);
    note(chat, `On branch ${oneLine(name)}.`);
  } else {
    await client.contexts.branches.create(contextId, { name, activate: true });
    note(chat, `On branch ${oneLine(name)} (new, forked from the current branch).`);
  }
}

async function printPlace(chat: Chat): Promise<void> {
  const { client, contextId } = chat;
  const { worker_id, active_branch } = await client.contexts.get(contextId);
  const { state, why } = await client.contexts.state(contextId);
  note(
    chat,
    `context ${contextId} · worker ${worker_id} · branch ${oneLine(active_branch)} · ${state}: ${oneLine(why)}`,
  );
}
