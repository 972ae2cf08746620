/**
 * Matchers for the result of `runRole`: `expect.extend(matchers)` in vitest or Jest. They need nothing of either.
 */
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type Json } from '../core/json.ts';
import type { RoleRun } from './role-run.ts';

/** What a matcher returns to `expect`. */
export type MatcherResult = {
  /** Whether the expectation holds. */
  pass: boolean;
  /** What to print if it fails: of `not`, too. */
  message: () => string;
};

/** The types of the matchers, for `interface Matchers` in `declare module 'vitest'` (docs/guides/testing-agents.md). */
export type RoleMatchers<Result = unknown> = {
  /** The model called this tool; with `input`, also with these members. */
  toHaveCalled(tool: string, input?: Json): Result;
  /** The job completed. */
  toHaveFinished(): Result;
  /** The job completed with this text, or with one that the pattern matches. */
  toHaveAnswered(answer: string | RegExp): Result;
};

/** Pass them to `expect.extend`. */
export const matchers = {
  /** The model called this tool; with an input, also with these members. */
  toHaveCalled,
  /** The job completed. */
  toHaveFinished,
  /** The job completed with this text, or with one that the pattern matches. */
  toHaveAnswered,
};

function toHaveCalled({ calls }: RoleRun, tool: string, input?: Json): MatcherResult {
  const pass = calls.some((call) => call.tool === tool && (input === undefined || includes(call.input, input)));
  const wanted = input === undefined ? tool : `${tool} ${JSON.stringify(input)}`;
  const made = calls.map((call) => `  ${call.tool} ${JSON.stringify(call.input)} (${call.status})`).join('\n');
  return {
    pass,
    message: () =>
      `The job ${pass ? 'called' : 'did not call'} ${wanted}. ${made === '' ? 'It made no calls.' : `Its calls:\n${made}`}`,
  };
}

function toHaveFinished(run: RoleRun): MatcherResult {
  return { pass: run.status === 'completed', message: () => stateOf(run) };
}

function toHaveAnswered(run: RoleRun, answer: string | RegExp): MatcherResult {
  const text = run.output?.text ?? null;
  const isMatch = text !== null && (typeof answer === 'string' ? text === answer : new RegExp(answer).test(text));
  const pass = run.status === 'completed' && isMatch;
  const wanted = typeof answer === 'string' ? JSON.stringify(answer) : String(answer);
  return { pass, message: () => `Answer wanted: ${wanted}. ${stateOf(run)}` };
}

function stateOf({ status, output, error, waiting_for }: RoleRun): string {
  const waits = waiting_for.map(({ call, waits_for: what }) => `${call.tool} waits for ${what}`).join(', ');
  return [
    `The job is ${status}.`,
    ...(error === null ? [] : [`${error.code}: ${error.message}`]),
    ...(waits === '' ? [] : [`${waits}.`]),
    ...(output === null ? [] : [`Its answer: ${JSON.stringify(output.text)}`]),
  ].join(' ');
}

/** Objects may have more members; all else is equal. */
function includes(value: Json, part: Json): boolean {
  if (!isJsonObject(part)) return isDeepStrictEqual(value, part);
  if (!isJsonObject(value)) return false;
  return Object.entries(part).every(([name, one]) => Object.hasOwn(value, name) && includes(value[name] ?? null, one));
}
