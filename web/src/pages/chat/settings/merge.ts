/** Two people changed the same settings: what each of them made of what both began with. */
import { MEMBERS, isSame } from './draft.ts';
import type { Draft, Member } from './draft.ts';

/** `clash`: both changed it, and differently. */
export type Difference = { member: Member; clash: boolean };

/** What the others changed. */
export function differences(base: Draft, mine: Draft, theirs: Draft): Difference[] {
  return MEMBERS.filter((member) => !isSame(base, theirs, member)).map((member) => ({
    member,
    clash: !isSame(base, mine, member) && !isSame(mine, theirs, member),
  }));
}

/** Theirs, with what only I changed; of what both changed mine where it is named. */
export function merge(base: Draft, mine: Draft, theirs: Draft, keptMine: readonly Member[]): Draft {
  const clashing = differences(base, mine, theirs).filter(({ clash }) => clash);
  return MEMBERS.reduce<Draft>((merged, member) => {
    const isMine = !isSame(base, mine, member);
    const isClash = clashing.some((one) => one.member === member);
    return isMine && (!isClash || keptMine.includes(member)) ? { ...merged, [member]: mine[member] } : merged;
  }, theirs);
}

/** As it is shown beside the other. */
export function show(draft: Draft, member: Member): string {
  const value = draft[member];
  if (value === 'role' || value.length === 0) return 'not set';
  if (typeof value === 'string') return value;
  return value
    .map((one) => {
      if (typeof one === 'string') return one;
      return 'tool' in one ? `${one.tool}: ${one.decision}` : `${one.title}: ${one.text}`;
    })
    .join('\n');
}
