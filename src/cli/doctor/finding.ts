/** The result of a check. */
export type Finding = {
  name: string;
  status: 'ok' | 'warn' | 'fail';
  detail: string;
  /** How to fix the problem; null: nothing to fix. */
  advice: string | null;
};

export function ok(name: string, detail: string): Finding {
  return { name, status: 'ok', detail, advice: null };
}

export function warn(name: string, detail: string, advice: string): Finding {
  return { name, status: 'warn', detail, advice };
}

export function fail(name: string, detail: string, advice: string): Finding {
  return { name, status: 'fail', detail, advice };
}

/** The reason why a service could not be reached, without its URL, which may contain a password. */
export function why(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown reason';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : null;
  const inner = error instanceof AggregateError ? why(error.errors[0]) : error.message;
  const message = inner.replaceAll(/\b[a-z]+:\/\/\S+/gi, '<address>');
  return code === null || message.includes(code) ? message : `${code} ${message}`.trim();
}
