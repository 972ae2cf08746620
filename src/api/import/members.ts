/**
 * Reads a JSON object member by member as its bytes come, and the members that are large part by part: `entries` item by item,
 * `files` file by file. So no more of it is held, and parsed at once, than one value.
 */
import { Budget, Value, notJson } from './value.ts';
import { wrong } from './parse.ts';

/**
 * A member, or a part of one that is split: then with its place in it (from 0 in a list, a name in an object). What is split
 * itself comes empty, before its parts.
 */
export type Member = { name: string; item: number | string | null; value: unknown };

/** Those that an import may have; of all others not even the value is read. */
const KNOWN = ['format', 'version', 'context', 'entries', 'branches', 'title', 'worker', 'config', 'files'];

/** Megabytes (characters) of an item of `entries`, of all `files` together, and of all other members together. */
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

/** What the reader found: a value whose text is whole, or the beginning of a member that is split. */
type Found = { name: string; item: number | string | null; value: Value | 'list' | 'object' };

/** Throws `InvalidJson` or `RequestRefused`. */
export async function* membersOf(source: AsyncIterable<Uint8Array>): AsyncGenerator<Member> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const reader = new Reader();
  for await (const chunk of source)
    yield* parsed(reader.read(decode(() => decoder.decode(chunk, { stream: true }))));
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
  /** Of the value that is being read: what came of it in earlier pieces; null: none is. */
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

  /** That there is a list, or an object, at all. */
  *#opened(): Generator<Found> {
    if (this.#expecting === 'first item') yield { name: this.#name, item: null, value: 'list' };
    if (this.#expecting === 'first key') yield { name: this.#name, item: null, value: 'object' };
  }

  end(): void {
    if (this.#expecting !== 'end' || this.#value !== null) throw notJson();
  }

  /** One sign between values; where a value begins, its first one is left to it. */
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
  throw wrong(shown, `${shown} is no member that is known here.`);
}
