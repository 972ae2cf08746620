/**
 * Branches share what they have in common: each knows the stretches of its context's one line that it reads, in order, of
 * which the last is its own and open. A message of its own is younger than the branch, so that a name which is given again
 * shows nothing of an older branch. Pure.
 */

/** The branch that every context begins with. */
export const MAIN = 'main';

/** Names that a branch may be given. */
export const BRANCH_NAME = '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$';

/** Messages of `branch` with `after < seq <= upto`; null: as far as it goes. */
export type Span = { branch: string; after: number; upto: number | null };

/** What a branch reads of which no stretches are stored: every message under its own name. */
export function whole(name: string): Span[] {
  return [{ branch: name, after: 0, upto: null }];
}

/** What a branch reads that leaves another one behind the message numbered `forkSeq`; what it adds comes after `head`. */
export function forked(spans: readonly Span[], forkSeq: number, name: string, head: number): Span[] {
  return [...closed(spans, forkSeq), { branch: name, after: head, upto: null }];
}

/** What of these stretches lies up to a message. */
export function closed(spans: readonly Span[], seq: number): Span[] {
  return spans.flatMap((span): Span[] => {
    const upto = Math.min(span.upto ?? seq, seq);
    return upto > span.after ? [{ ...span, upto }] : [];
  });
}

/** Whether a branch reads the message of this number that was added to `branch`. */
export function reads(spans: readonly Span[], { branch, seq }: { branch: string; seq: number }): boolean {
  return spans.some(
    (span) => span.branch === branch && seq > span.after && (span.upto === null || seq <= span.upto),
  );
}

/** The first name that is free beside `parent`: `main-2`, `main-3` … */
export function nameBeside(parent: string, taken: ReadonlySet<string>): string {
  const stem = parent.replace(/-\d+$/, '').slice(0, 56);
  for (let number = 2; ; number += 1) {
    const name = `${stem}-${number}`;
    if (!taken.has(name)) return name;
  }
}
