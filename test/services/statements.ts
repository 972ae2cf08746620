// Statements as hooks, logs and pg_stat_activity show them.

/** The tag that a statement of `src/db` begins with, such as `contexts.claim`; null: it has none. */
export function tagOf(text: string): string | null {
  return /^\/\* (\w+\.\w+) \*\//.exec(text)?.[1] ?? null;
}

/** Whether a statement changes rows. */
export function isWrite(text: string): boolean {
  return /\b(insert into|delete from|update "?\w+"?( \w+)? set)\b/i.test(text);
}

/** Whether a statement claims contexts, one or several. */
export function isClaim(text: string): boolean {
  return tagOf(text) === 'contexts.claim' || tagOf(text) === 'contexts.claim_many';
}
