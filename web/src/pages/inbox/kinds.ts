/** Kinds of inbox items. */
import type { InboxItem } from 'nightshift/client';

export type Kind = 'approval' | 'question' | 'client_tool' | 'unknown_outcome';

export const KINDS: readonly { name: Kind; label: string; plural: string }[] = [
  { name: 'approval', label: 'Approval', plural: 'Approvals' },
  { name: 'question', label: 'Question', plural: 'Questions' },
  { name: 'client_tool', label: 'Client tool', plural: 'Client tools' },
  { name: 'unknown_outcome', label: 'Unknown outcome', plural: 'Outcomes' },
];

export function kindOf({ kind, name }: InboxItem): Kind {
  if (kind !== 'input') return kind;
  return name === 'ask_user' ? 'question' : 'client_tool';
}

/** The text of a question; null for other kinds. */
export function questionOf({ name, input }: InboxItem): string | null {
  if (name !== 'ask_user' || typeof input !== 'object' || input === null || Array.isArray(input)) return null;
  const question = input['question'];
  return typeof question === 'string' ? question : null;
}
