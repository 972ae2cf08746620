/**
 * The prompt cache of a provider, as the documentation of each describes it. Anthropic: a prefix that ends at a
 * breakpoint (`cache_control`) is kept, and found again from a breakpoint at most twenty blocks behind it. OpenAI:
 * every prompt is kept, in steps of 128 tokens. Both: from 1,024 tokens on, in the order tools, instructions, messages,
 * for some minutes since it was last read. The exact token does not matter here: four characters.
 */
import { isJsonObject, type Json, type JsonObject } from '../../../src/core/json.ts';
import type { FakeUsage } from './reply.ts';
import type { FakeRequest } from './request.ts';

const CHARACTERS = 4;
/** Of tokens. */
const LEAST = 1_024;
const STEP = 128;
/** Of blocks, before a breakpoint. */
const LOOK_BACK = 20;

export type CacheUse = {
  /** Tokens that were read from the cache, and written to it; the other tokens of the prompt. */
  read: number;
  write: number;
  input: number;
  /** Tokens that the prompt shares, from its beginning, with an earlier one that is still kept. */
  shared: number;
};

export type PromptCache = { take(request: FakeRequest): CacheUse };

/** A piece of a prompt; `mark`: it has a breakpoint. */
type Piece = { text: string; mark: boolean };

export function promptCache({ lifetimeMs = 300_000, now = () => Date.now() } = {}): PromptCache {
  /** By the text of a prefix: until when it is kept. */
  const kept = new Map<string, number>();
  let prompts: { text: string; key: string; until: number }[] = [];

  const isKept = (prefix: string): boolean => (kept.get(prefix) ?? 0) > now();
  const keep = (prefix: string): void => void kept.set(prefix, now() + lifetimeMs);

  /** Ends of prefixes, in characters: those that may be found, and those that are kept from now on. */
  function ends(request: FakeRequest, pieces: readonly Piece[]): { found: number[]; made: number[] } {
    if (request.format !== 'messages') {
      const length = textOf(pieces).length;
      const all: number[] = [];
      for (let end = LEAST; end * CHARACTERS <= length; end += STEP) all.push(end * CHARACTERS);
      return { found: all, made: all };
    }
    const at = pieces.map((_, index) => textOf(pieces.slice(0, index + 1)).length);
    const marked = pieces.flatMap(({ mark }, index) => (mark ? [index] : []));
    const long = (end: number): boolean => end >= LEAST * CHARACTERS;
    return {
      found: marked.flatMap((index) => at.slice(Math.max(0, index - LOOK_BACK), index + 1)).filter(long),
      made: marked.map((index) => at[index] ?? 0).filter(long),
    };
  }

  return {
    take(request) {
      const pieces = piecesOf(request);
      const text = textOf(pieces);
      const key = `${request.format} ${request.model} ${textIn(request.body, 'prompt_cache_key')}`;
      const { found, made } = ends(request, pieces);
      const prefix = (end: number): string => `${key}\n${text.slice(0, end)}`;
      const read = Math.max(0, ...found.filter((end) => isKept(prefix(end))));
      for (const end of [...made, ...(read > 0 ? [read] : [])]) keep(prefix(end));
      const write = request.format === 'messages' ? Math.max(0, Math.max(0, ...made) - read) : 0;
      prompts = prompts.filter(({ until }) => until > now());
      const shared = Math.max(
        0,
        ...prompts.filter((one) => one.key === key).map((one) => sharedLength(one.text, text)),
      );
      prompts.push({ text, key, until: now() + lifetimeMs });
      return {
        read: tokens(read),
        write: tokens(write),
        input: tokens(text.length) - tokens(read) - tokens(write),
        shared: tokens(shared),
      };
    },
  };
}

export function toFakeUsage({ read, write, input }: CacheUse, output = 20): FakeUsage {
  return { input, output, cacheRead: read, cacheWrite: write };
}

function tokens(characters: number): number {
  return Math.floor(characters / CHARACTERS);
}

function textOf(pieces: readonly Piece[]): string {
  return pieces.map(({ text }) => text).join('\n');
}

/** Of the beginning, in characters. */
export function sharedLength(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}

/** The prompt as the provider reads it, in its order, byte for byte, without breakpoints. */
export function promptText(request: Pick<FakeRequest, 'format' | 'body'>): string {
  return textOf(piecesOf(request));
}

function piecesOf({ format, body }: Pick<FakeRequest, 'format' | 'body'>): Piece[] {
  const { tools, system, instructions, messages, input } = body;
  switch (format) {
    case 'messages':
      return [
        ...blocks(tools),
        ...blocks(system),
        ...list(messages).flatMap((message) => [
          { text: textIn(message, 'role'), mark: false },
          ...blocks(message['content']),
        ]),
      ];
    case 'chat':
      return [...blocks(tools), ...blocks(messages)];
    case 'responses':
      return [...blocks(tools), ...blocks(instructions), ...blocks(input)];
  }
}

function blocks(value: Json | undefined): Piece[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) return [{ text: JSON.stringify(value), mark: false }];
  return list(value).map(({ cache_control: mark, ...block }) => ({
    text: JSON.stringify(block),
    mark: mark !== undefined,
  }));
}

function list(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function textIn(object: JsonObject, name: string): string {
  const value = object[name];
  return typeof value === 'string' ? value : '';
}
