/** Kinds of inbox items. */
import type { InboxItem } from 'nightshift/client';
import type { InboxKind } from '../../words.ts';

export const KINDS = ['approval', 'question', 'client_tool', 'unknown_outcome'] as const satisfies InboxKind[];

export function kindOf({ kind, name }: InboxItem): InboxKind {
  if (kind !== 'input') return kind;
  return name === 'ask_user' ? 'question' : 'client_tool';
}

/** The text of a question; null for other kinds. */
export function questionOf({ name, input }: InboxItem): string | null {
  if (name !== 'ask_user' || typeof input !== 'object' || input === null || Array.isArray(input)) return null;
  const question = input['question'];
  return typeof question === 'string' ? question : null;
}
