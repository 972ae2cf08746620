/** Reads a person's answer from an input line and sends it to the API. */
import {
  NightshiftError,
  type ApproveCalls,
  type Client,
  type Json,
  type ResolveToolCall,
} from '../../client/index.ts';
import { questionOf, type Item } from './item.ts';

type Answer =
  | { kind: 'approval'; approval: Omit<ApproveCalls, 'tool_call_id' | 'all'> }
  | { kind: 'result'; content: string }
  | { kind: 'outcome'; outcome: ResolveToolCall['outcome'] };

/** The answers that the item accepts, as a prompt. */
export function choicesOf(item: Item): string {
  switch (item.kind) {
    case 'approval':
      return '[y]es, [n]o, [a]lways (30 days), ne[v]er, yes with other {…input}, [l]ater';
    case 'unknown_outcome':
      return '[h]appened, [d]id not happen: run it again, [t]ell the model that the outcome is unknown, [l]ater';
    case 'input':
      return (questionOf(item)?.choices ?? []).length === 0 ? 'your answer' : 'your answer, or the number of a choice';
  }
}

/** `later`: the item stays in the inbox. Null: the line is not a valid answer. */
export function readAnswer(item: Item, line: string): Answer | 'later' | null {
  const text = line.trim();
  switch (item.kind) {
    case 'approval':
      return text.startsWith('{') ? withInput(text) : choose(DECISIONS, text);
    case 'unknown_outcome':
      return choose(OUTCOMES, text);
    case 'input': {
      const choices = questionOf(item)?.choices ?? [];
      const chosen = /^\d+$/.test(text) ? choices[Number(text) - 1] : undefined;
      return text === '' ? null : { kind: 'result', content: chosen ?? text };
    }
  }
}

/** A letter or a word, and the answer for which it stands. */
type Choice = readonly [letter: string, word: string, answer: Answer | 'later'];

const LATER: Choice = ['l', 'later', 'later'];

const DECISIONS: readonly Choice[] = [
  ['y', 'yes', { kind: 'approval', approval: { decision: 'approve' } }],
  ['n', 'no', { kind: 'approval', approval: { decision: 'deny' } }],
  ['a', 'always', { kind: 'approval', approval: { decision: 'approve', remember: true } }],
  ['v', 'never', { kind: 'approval', approval: { decision: 'deny', remember: true } }],
  LATER,
];

const OUTCOMES: readonly Choice[] = [
  ['h', 'happened', { kind: 'outcome', outcome: 'happened' }],
  ['d', 'did_not_happen', { kind: 'outcome', outcome: 'did_not_happen' }],
  ['t', 'tell', { kind: 'outcome', outcome: 'tell' }],
  LATER,
];

function choose(choices: readonly Choice[], text: string): Answer | 'later' | null {
  const typed = text.toLowerCase();
  return choices.find(([letter, word]) => typed === letter || typed === word)?.[2] ?? null;
}

function withInput(text: string): Answer | null {
  try {
    const input = JSON.parse(text) as { [key: string]: Json };
    return { kind: 'approval', approval: { decision: 'approve', input } };
  } catch {
    return null;
  }
}

/** False: the item had already been answered by another client. */
export async function sendAnswer(client: Client, item: Item, answer: Answer): Promise<boolean> {
  const { context_id, tool_call_id } = item;
  try {
    switch (answer.kind) {
      case 'approval':
        await client.tools.approve(context_id, { ...answer.approval, tool_call_id });
        break;
      case 'result':
        await client.tools.result(context_id, tool_call_id, { content: answer.content });
        break;
      case 'outcome':
        await client.tools.resolve(context_id, tool_call_id, { outcome: answer.outcome });
        break;
    }
    return true;
  } catch (error) {
    if (error instanceof NightshiftError && error.code === 'not_waiting') return false;
    throw error;
  }
}
