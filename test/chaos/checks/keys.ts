// A key that the API made is accepted until it is revoked, and refused by every API process a second later.
import type { Check, MadeKey, Violation } from '../world/world.ts';
import { reporter } from './violation.ts';

/** So soon a revoked key is refused, in milliseconds. */
const REFUSED_WITHIN_MS = 1_000;

const violation = reporter('keys');

export const keys: Check = {
  name: 'keys',
  find({ keys: made }) {
    const refused = made.filter(({ revoked, uses }) => revoked !== null && uses.some(({ status }) => status === 401));
    return [
      ...(refused.length === 0 ? [violation('no key was revoked and refused', null)] : []),
      ...made.flatMap(faultsOf),
    ];
  },
};

function faultsOf({ id, uses, revoked }: MadeKey): Violation[] {
  return uses.flatMap(({ sentAt, answeredAt, status }) => {
    if (status === 401 && (revoked === null || answeredAt < revoked.asked))
      return [violation('a valid key was refused', null, id)];
    const late = revoked === null ? 0 : sentAt - revoked.answered;
    if (status === 200 && late > REFUSED_WITHIN_MS)
      return [violation(`a key was accepted ${late} ms after it was revoked`, null, id)];
    return [];
  });
}
