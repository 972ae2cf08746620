/** An item that waits for a person, and its texts. */
import type { InboxItem, Json, StreamEvent } from '../../client/index.ts';
import { oneLine } from '../terminal/safe.ts';
import { cut } from '../terminal/width.ts';

export type Item = Pick<InboxItem, 'kind' | 'context_id' | 'tool_call_id' | 'name' | 'input'>;

type Question = { question: string; choices: readonly string[] };

const INPUT_COLUMNS = 200;

/** The item that an event asks a person to answer; null: none. */
export function itemOf({ event, data }: StreamEvent): Item | null {
  if (event === 'ApprovalRequested') return { ...data, kind: 'approval' };
  if (event === 'InputRequested') {
    const { question, choices } = data;
    return { ...data, kind: 'input', input: question === null ? data.input : { question, choices } };
  }
  return event === 'OutcomeUnknown' ? { ...data, kind: 'unknown_outcome' } : null;
}

/** The id of the call that the event reports as answered; null: none. */
export function answeredBy({ event, data }: StreamEvent): string | null {
  return event === 'ApprovalResolved' || event === 'OutcomeResolved' || event === 'ToolCallFinished'
    ? data.tool_call_id
    : null;
}

/** Null: the item is a call of a client tool, which the client answers. */
export function questionOf({ kind, name, input }: Item): Question | null {
  if (kind !== 'input' || name !== 'ask_user' || !isObject(input)) return null;
  const { question, choices } = input;
  if (typeof question !== 'string') return null;
  const offered = Array.isArray(choices) ? choices.filter((choice) => typeof choice === 'string') : [];
  return { question, choices: offered };
}

function isObject(value: Json): value is { [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function inputText(input: Json): string {
  return cut(oneLine(JSON.stringify(input)), INPUT_COLUMNS);
}

/** One line. */
export function titleOf(item: Item): string {
  switch (item.kind) {
    case 'approval':
      return `May ${oneLine(item.name)} run? ${inputText(item.input)}`;
    case 'unknown_outcome':
      return `Did ${oneLine(item.name)} happen? ${inputText(item.input)}`;
    case 'input': {
      const parsed = questionOf(item);
      if (parsed === null) return `Waiting for a client to run ${oneLine(item.name)} ${inputText(item.input)}`;
      const choices = parsed.choices.length === 0 ? '' : ` [${parsed.choices.map(oneLine).join(' | ')}]`;
      return `${oneLine(parsed.question)}${choices}`;
    }
  }
}

/** The command that answers the item from another terminal. */
export function commandFor(item: Item): string {
  switch (item.kind) {
    case 'approval':
      return `nightshift approve ${item.tool_call_id} (or deny)`;
    case 'unknown_outcome':
      return `nightshift resolve ${item.tool_call_id} happened (or did_not_happen, tell)`;
    case 'input':
      return `nightshift answer ${item.tool_call_id} "…"`;
  }
}
