/** Parses and checks the values of options. */
import { InvalidArgumentError } from 'commander';
import type { Json } from '../client/index.ts';
import { parseDuration } from './terminal/time.ts';

export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Expected a whole number from ${least} to ${most}.`);
  };
}

/** A number with or without a fraction. */
export function decimal(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() !== '' && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Expected a number from ${least} to ${most}.`);
  };
}

export function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms === null) throw new InvalidArgumentError('Expected a duration such as 500ms, 90s, 10m, 2h or 1d.');
  return ms;
}

/** A timestamp in ISO 8601, or a duration from now; `sign` -1: a duration ago. */
export function instant(sign: 1 | -1): (text: string) => string {
  return (text) => {
    const ms = parseDuration(text);
    const at = ms === null ? Date.parse(text) : Date.now() + sign * ms;
    if (!Number.isNaN(at)) return new Date(at).toISOString();
    const example = sign === 1 ? 'from now' : 'ago';
    throw new InvalidArgumentError(`Expected a timestamp (2026-01-31T08:00:00Z) or a time ${example} (10m, 2h).`);
  };
}

/** An option that may be repeated, or take several values separated by commas. */
export function gathered(text: string, before: readonly string[] = []): string[] {
  const values = text.split(',').map((value) => value.trim());
  if (values.includes('')) throw new InvalidArgumentError('Expected values without empty ones between the commas.');
  return [...before, ...values];
}

/** Like `gathered`; each value once, and each of these. */
export function someOf<Value extends string>(
  choices: readonly Value[],
): (text: string, before?: readonly Value[]) => Value[] {
  return (text, before = []) => {
    const values = gathered(text).map((value) => choices.find((choice) => choice === value));
    if (values.includes(undefined)) throw new InvalidArgumentError(`Expected some of ${choices.join(', ')}.`);
    return [...new Set([...before, ...values.filter((value) => value !== undefined)])];
  };
}

/** One metadata entry: `name=value`. The value is parsed as JSON where possible. */
export function member(text: string, before: { [key: string]: Json } = {}): { [key: string]: Json } {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('Expected name=value.');
  const value = text.slice(at + 1);
  return { ...before, [text.slice(0, at)]: parseJson(value) ?? value };
}

export function jsonObject(text: string): { [key: string]: Json } {
  const value = parseJson(text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new InvalidArgumentError('Expected a JSON object.');
}

type Given<T> = { [Name in keyof T]?: Exclude<T[Name], undefined> };

/** The options that are set. */
export function given<T extends object>(options: T): Given<T> {
  const entries: [string, unknown][] = Object.entries(options);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Given<T>;
}

/** Undefined: the text is not JSON. */
function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
