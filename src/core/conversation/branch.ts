/**
 * Branches share their common messages. Each branch lists, in order, the spans of its context's single message
 * sequence that it reads; the last span is its own and is open-ended. A branch's own messages are numbered after its
 * creation, so a reused branch name shows no messages of an earlier branch. Pure.
 */

/** The branch that every context starts with. */
export const MAIN = 'main';

export const BRANCH_NAME = '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$';

/** Messages of `branch` with `after < seq <= upto`; null: no upper limit. */
export type Span = { branch: string; after: number; upto: number | null };

/** The spans of a branch without stored spans: every message under its own name. */
export function whole(name: string): Span[] {
  return [{ branch: name, after: 0, upto: null }];
}

/** The spans of a branch forked after message `forkSeq`; its own messages are numbered after `head`. */
export function forked(spans: readonly Span[], forkSeq: number, name: string, head: number): Span[] {
  return [...closed(spans, forkSeq), { branch: name, after: head, upto: null }];
}

/** The part of these spans up to message `seq`. */
export function closed(spans: readonly Span[], seq: number): Span[] {
  return spans.flatMap((span): Span[] => {
    const upto = Math.min(span.upto ?? seq, seq);
    return upto > span.after ? [{ ...span, upto }] : [];
  });
}

/** Whether a branch reads the message with this number that was added to `branch`. */
export function reads(spans: readonly Span[], { branch, seq }: { branch: string; seq: number }): boolean {
  return spans.some((span) => span.branch === branch && seq > span.after && (span.upto === null || seq <= span.upto));
}

/** The first free name beside `parent`: `main-2`, `main-3` … */
export function nameBeside(parent: string, taken: ReadonlySet<string>): string {
  const stem = parent.replace(/-\d+$/, '').slice(0, 56);
  for (let number = 2; ; number += 1) {
    const name = `${stem}-${number}`;
    if (!taken.has(name)) return name;
  }
}
