/**
 * Streams a JSON object member by member. Splits the large members: `entries` item by item, `files` file by file. So
 * only one value at a time is in memory and parsed.
 */
import { Budget, Value, notJson } from './value.ts';
import { wrong } from './parse.ts';

/**
 * A member, or a part of a split member with its `item`: an index from 0 in a list, or a name in an object. A split
 * member itself comes first, empty, before its parts.
 */
type Member = { name: string; item: number | string | null; value: unknown };

/** The members of imports. Others are refused before their value is read. */
const KNOWN = ['format', 'version', 'context', 'entries', 'branches', 'title', 'worker', 'config', 'files'];

/** Limits in megabytes (of characters): for an item of `entries`, for all `files`, and for all other members. */
const ITEM_MB = 32;
const FILES_MB = 32;
const FRAME_MB = 4;

type Expecting =
  | 'object'
  | 'first name'
  | 'name'
  | 'colon'
  | 'value'
  | 'first item'
  | 'item'
  | 'after item'
  | 'first key'
  | 'key'
  | 'key colon'
  | 'file'
  | 'after file'
  | 'after value'
  | 'end';

/** A complete value, or the start of a split member. */
type Found = { name: string; item: number | string | null; value: Value | 'list' | 'object' };

/** Throws `InvalidJson` or `RequestRefused`. */
export async function* membersOf(source: AsyncIterable<Uint8Array>): AsyncGenerator<Member> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const reader = new Reader();
  for await (const chunk of source) yield* parsed(reader.read(decode(() => decoder.decode(chunk, { stream: true }))));
  yield* parsed(reader.read(decode(() => decoder.decode())));
  reader.end();
}

async function* parsed(found: Iterable<Found>): AsyncGenerator<Member> {
  for (const { name, item, value } of found) {
    if (value === 'list') yield { name, item, value: [] };
    else if (value === 'object') yield { name, item, value: {} };
    else yield { name, item, value: await value.parseInTurn() };
  }
}

function decode(work: () => string): string {
  try {
    return work();
  } catch {
    throw notJson();
  }
}

class Reader {
  #expecting: Expecting = 'object';
  #name = '';
  #item: number | string | null = null;
  readonly #frame = new Budget(FRAME_MB);
  readonly #files = new Budget(FILES_MB);
  /** The value that is being read; null: none. */
  #value: Value | null = null;

  *read(text: string): Generator<Found> {
    for (let at = 0; at < text.length;) {
      if (this.#value === null) {
        const before = this.#expecting;
        at = this.#next(text, at);
        if (before === 'value') yield* this.#opened();
      } else {
        at = this.#value.read(text, at);
        if (this.#value.isWhole) yield* this.#taken(this.#value);
      }
    }
  }

  /** Reports the start of a split list or object. */
  *#opened(): Generator<Found> {
    if (this.#expecting === 'first item') yield { name: this.#name, item: null, value: 'list' };
    if (this.#expecting === 'first key') yield { name: this.#name, item: null, value: 'object' };
  }

  end(): void {
    if (this.#expecting !== 'end' || this.#value !== null) throw notJson();
  }

  /** Reads one character between values. The first character of a value is left to the value. */
  #next(text: string, at: number): number {
    const sign = text.charAt(at);
    if (/[ \t\n\r]/.test(sign)) return at + 1;
    switch (this.#expecting) {
      case 'object':
        return this.#on(sign, at, { '{': 'first name' });
      case 'first name':
        return sign === '}' ? this.#go('end', at) : this.#begin(sign === '"', at);
      case 'name':
      case 'key':
        return this.#begin(sign === '"', at);
      case 'colon':
        return this.#on(sign, at, { ':': 'value' });
      case 'key colon':
        return this.#on(sign, at, { ':': 'file' });
      case 'value':
        if (this.#name === 'entries' && sign === '[') return this.#go('first item', at);
        if (this.#name === 'files' && sign === '{') return this.#go('first key', at);
        return this.#begin(true, at);
      case 'first item':
        return sign === ']' ? this.#go('after value', at) : this.#begin(true, at);
      case 'first key':
        return sign === '}' ? this.#go('after value', at) : this.#begin(sign === '"', at);
      case 'item':
      case 'file':
        return this.#begin(true, at);
      case 'after item':
        return this.#on(sign, at, { ',': 'item', ']': 'after value' });
      case 'after file':
        return this.#on(sign, at, { ',': 'key', '}': 'after value' });
      case 'after value':
        return this.#on(sign, at, { ',': 'name', '}': 'end' });
      case 'end':
        throw notJson();
    }
  }

  #on(sign: string, at: number, ways: Readonly<Record<string, Expecting>>): number {
    const to = ways[sign];
    if (to === undefined) throw notJson();
    return this.#go(to, at);
  }

  #go(to: Expecting, at: number): number {
    this.#expecting = to;
    if (to === 'first item') this.#item = null;
    return at + 1;
  }

  #begin(isAllowed: boolean, at: number): number {
    if (!isAllowed) throw notJson();
    this.#value = new Value(this.#budget());
    return at;
  }

  #budget(): Budget {
    switch (this.#expecting) {
      case 'first item':
      case 'item':
        return new Budget(ITEM_MB);
      case 'first key':
      case 'key':
      case 'file':
        return this.#files;
      case 'object':
      case 'first name':
      case 'name':
      case 'colon':
      case 'value':
      case 'key colon':
      case 'after item':
      case 'after file':
      case 'after value':
      case 'end':
        return this.#frame;
    }
  }

  *#taken(value: Value): Generator<Found> {
    this.#value = null;
    switch (this.#expecting) {
      case 'first name':
      case 'name':
        this.#name = knownName(String(value.parse()));
        this.#expecting = 'colon';
        return;
      case 'first key':
      case 'key':
        this.#files.takeValue();
        this.#item = String(value.parse());
        this.#expecting = 'key colon';
        return;
      case 'value':
        this.#expecting = 'after value';
        yield { name: this.#name, item: null, value };
        return;
      case 'first item':
      case 'item':
        this.#item = typeof this.#item === 'number' ? this.#item + 1 : 0;
        this.#expecting = 'after item';
        yield { name: this.#name, item: this.#item, value };
        return;
      case 'file':
        this.#expecting = 'after file';
        yield { name: this.#name, item: this.#item, value };
        return;
      case 'object':
      case 'colon':
      case 'key colon':
      case 'after item':
      case 'after file':
      case 'after value':
      case 'end':
        throw new Error(`A value was read where none is expected: ${this.#expecting}.`);
    }
  }
}

function knownName(name: string): string {
  if (KNOWN.includes(name)) return name;
  const shown = name.slice(0, 200).toWellFormed().replaceAll('\0', '\u{FFFD}');
  throw wrong(shown, `Unknown field \`${shown}\`. Known fields: ${KNOWN.join(', ')}.`);
}
