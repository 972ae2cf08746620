/** Three-way merge of settings that two people changed at the same time. */
import { isSame, isUnset } from '../../../config-editor/changes.ts';
import { contextSettingsWords } from '../../../words.ts';
import { MEMBERS, type Draft, type Member } from './draft.ts';

/** `clash`: both changed the member to different values. */
type Difference = { member: Member; clash: boolean };

/** Members that the other side changed. */
export function differences(base: Draft, mine: Draft, theirs: Draft): Difference[] {
  return MEMBERS.filter((member) => !isSame(member, base[member], theirs[member])).map((member) => ({
    member,
    clash: !isSame(member, base[member], mine[member]) && !isSame(member, mine[member], theirs[member]),
  }));
}

/** `theirs` with the members that only `mine` changed, and with those clashing members that `keptMine` names. */
export function merge(base: Draft, mine: Draft, theirs: Draft, keptMine: readonly Member[]): Draft {
  const clashing = differences(base, mine, theirs).filter(({ clash }) => clash);
  return MEMBERS.reduce<Draft>((merged, member) => {
    const isMine = !isSame(member, base[member], mine[member]);
    const isClash = clashing.some((one) => one.member === member);
    return isMine && (!isClash || keptMine.includes(member)) ? { ...merged, [member]: mine[member] } : merged;
  }, theirs);
}

/** Display text of a member. */
export function show(draft: Draft, member: Member): string {
  const value = draft[member];
  if (value === null || isUnset(member, value)) return contextSettingsWords.conflict.notSet;
  if (value.length === 0) return contextSettingsWords.conflict.empty;
  if (typeof value === 'string') return value;
  return value
    .map((one) => {
      if (typeof one === 'string') return one;
      return 'tool' in one ? `${one.tool}: ${one.decision}` : `${one.title}: ${one.text}`;
    })
    .join('\n');
}
