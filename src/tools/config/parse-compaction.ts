/** Parses `compaction` and `pinned` of a role. */
import { KEEP_TURNS } from '../../core/compaction/settings.ts';
import type { CompactionConfig } from '../../core/compaction/settings.ts';
import { COMPACTION_TYPES } from '../../core/compaction/type.ts';
import { PINNED } from '../../core/conversation/pinned.ts';
import type { Pinned } from '../../core/conversation/pinned.ts';
import { fault, integer, list, members, oneOf, optional, required } from './member.ts';
import type { Member, Reader } from './member.ts';
import { model } from './parse-model.ts';

const COMPACTION = { what: 'compaction', known: ['type', 'threshold', 'keep_turns', 'model'] };
const PIECE = { what: 'a pinned text', known: ['title', 'text'] };

export function parseCompaction(member: Member): CompactionConfig | null {
  const of = members(member, COMPACTION);
  if (of === null) return null;
  const type = optional(of('type'), oneOf(COMPACTION_TYPES));
  const threshold = optional(of('threshold'), share);
  const keepTurns = optional(of('keep_turns'), integer(0, KEEP_TURNS.most));
  const summariser = optional(of('model'), model);
  return {
    ...(type !== null && { type }),
    ...(threshold !== null && { threshold }),
    ...(keepTurns !== null && { keep_turns: keepTurns }),
    ...(summariser !== null && { model: summariser }),
  };
}

function share(member: Member): number | null {
  const { value } = member;
  return typeof value === 'number' && value > 0 && value <= 1
    ? value
    : fault(member, 'must be a number greater than 0 and at most 1');
}

export function parsePinned(member: Member): Pinned[] | null {
  const pieces = list(parsePiece)(member);
  return pieces !== null && pieces.length > PINNED.most
    ? fault(member, `must have at most ${PINNED.most} entries`)
    : pieces;
}

function parsePiece(member: Member): Pinned | null {
  const of = members(member, PIECE);
  if (of === null) return null;
  const title = required(of('title'), words(PINNED.title));
  const text = required(of('text'), words(PINNED.text));
  return title === null || text === null ? null : { title, text };
}

function words(most: number): Reader<string> {
  return (member) => {
    const { value } = member;
    return typeof value === 'string' && value.trim() !== '' && value.length <= most
      ? value
      : fault(member, `must be a non-empty string of at most ${most} characters`);
  };
}
