/** Parses and formats times and amounts. */

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Parses `90s`, `10m`, `2h` or `1d` to milliseconds; null: invalid. */
export function parseDuration(text: string): number | null {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text.trim()) ?? [];
  if (amount === undefined || unit === undefined) return null;
  return Number(amount) * UNITS[unit as keyof typeof UNITS];
}

/** Formats a duration: `850ms`, `3.2s`, `4m 10s`, `2h 5m`, `3d 4h`. */
export function formatDuration(ms: number): string {
  if (ms < 999.5) return `${Math.max(0, Math.round(ms))}ms`;
  if (ms < 59_950) return `${(ms / UNITS.s).toFixed(1)}s`;
  const rounded = Math.round(ms / UNITS.s) * UNITS.s;
  const [big, small] = unitsOf(rounded);
  const rest = Math.floor((rounded % UNITS[big]) / UNITS[small]);
  return `${Math.floor(rounded / UNITS[big])}${big}${rest === 0 ? '' : ` ${rest}${small}`}`;
}

type Unit = keyof typeof UNITS;

function unitsOf(ms: number): readonly [Unit, Unit] {
  if (ms < UNITS.h) return ['m', 's'];
  return ms < UNITS.d ? ['h', 'm'] : ['d', 'h'];
}

/** The time between two timestamps of the API; null: one is missing. */
export function between(from: string | null, to: string | null): string | null {
  return from === null || to === null ? null : formatDuration(Date.parse(to) - Date.parse(from));
}

export function ago(instant: string, now = Date.now()): string {
  return formatDuration(Math.max(0, now - Date.parse(instant)));
}

export function count(amount: number, one: string, many = `${one}s`): string {
  return `${amount.toLocaleString('en-US')} ${amount === 1 ? one : many}`;
}

type Spent = {
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  cost: string | null;
};

export function tokensOf(usage: Spent): number {
  return usage.input_tokens + usage.output_tokens + usage.cache_read_tokens + usage.cache_write_tokens;
}

/** US dollars; null: the price is unknown. */
export function money(cost: string | null): string {
  return cost === null ? '–' : `$${cost}`;
}
