/**
 * Reads a JSON object member by member as its bytes come, and one member's list item by item, so that no more of it is held
 * than one value. What it yields is parsed by `JSON.parse`; this only finds where a value ends.
 */
import { refuse } from '../../core/errors.ts';
import { InvalidJson, checkShape } from '../body.ts';
import { RequestRefused } from '../problem.ts';

/** A member, or an item of the list that is split: then with its place in it, from 0. That list itself comes empty. */
export type Member = { name: string; item: number | null; value: unknown };

/** Characters of one value. */
const LONGEST = 32 * 1024 * 1024;

type Expecting =
  | 'object'
  | 'first name'
  | 'name'
  | 'colon'
  | 'value'
  | 'first item'
  | 'item'
  | 'after item'
  | 'after value'
  | 'end';

/** `split`: the member whose list is yielded item by item. Throws `InvalidJson` or `RequestRefused`. */
export async function* membersOf(source: AsyncIterable<Uint8Array>, split: string): AsyncGenerator<Member> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const reader = new Reader(split);
  for await (const chunk of source) yield* reader.read(decode(() => decoder.decode(chunk, { stream: true })));
  yield* reader.read(decode(() => decoder.decode()));
  reader.end();
}

function decode(work: () => string): string {
  try {
    return work();
  } catch {
    throw notJson();
  }
}

class Reader {
  readonly #split: string;
  #expecting: Expecting = 'object';
  #name = '';
  #item: number | null = null;
  /** Of the value that is being read: what came of it in earlier pieces; null: none is. */
  #value: Value | null = null;

  constructor(split: string) {
    this.#split = split;
  }

  *read(text: string): Generator<Member> {
    for (let at = 0; at < text.length;) {
      if (this.#value === null) {
        const before = this.#expecting;
        at = this.#next(text, at);
        if (before === 'value' && this.#expecting === 'first item') yield this.#list();
      } else {
        at = this.#value.read(text, at);
        if (this.#value.isWhole) yield* this.#taken(this.#value);
      }
    }
  }

  /** That there is a list at all. */
  #list(): Member {
    return { name: this.#name, item: null, value: [] };
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
        return this.#begin(sign === '"', at);
      case 'colon':
        return this.#on(sign, at, { ':': 'value' });
      case 'value':
        return sign === '[' && this.#name === this.#split
          ? this.#go('first item', at)
          : this.#begin(true, at);
      case 'first item':
        return sign === ']' ? this.#go('after value', at) : this.#begin(true, at);
      case 'item':
        return this.#begin(true, at);
      case 'after item':
        return this.#on(sign, at, { ',': 'item', ']': 'after value' });
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
    this.#value = new Value();
    return at;
  }

  *#taken(value: Value): Generator<Member> {
    this.#value = null;
    const parsed = value.parse();
    switch (this.#expecting) {
      case 'first name':
      case 'name':
        this.#name = String(parsed);
        this.#expecting = 'colon';
        return;
      case 'value':
        this.#expecting = 'after value';
        yield { name: this.#name, item: null, value: parsed };
        return;
      case 'first item':
      case 'item':
        this.#item = (this.#item ?? -1) + 1;
        this.#expecting = 'after item';
        yield { name: this.#name, item: this.#item, value: parsed };
        return;
      case 'object':
      case 'colon':
      case 'after item':
      case 'after value':
      case 'end':
        throw new Error(`A value was read where none is expected: ${this.#expecting}.`);
    }
  }
}

/** One JSON value, in pieces. */
class Value {
  readonly #pieces: string[] = [];
  #length = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;
  isWhole = false;

  /** Returns where it went on to: behind the value's end, or to the end of the text. */
  read(text: string, from: number): number {
    let at = from;
    while (at < text.length && !this.isWhole) at = this.#sign(text, at);
    this.#length += at - from;
    if (this.#length > LONGEST) {
      throw new RequestRefused(refuse('payload_too_large', 'One value of the body is larger than 32 MB.'));
    }
    this.#pieces.push(text.slice(from, at));
    return at;
  }

  parse(): unknown {
    try {
      const text = this.#pieces.join('');
      checkShape(Buffer.from(text));
      return JSON.parse(text);
    } catch (error) {
      throw error instanceof SyntaxError ? notJson() : error;
    }
  }

  #sign(text: string, at: number): number {
    const sign = text.charCodeAt(at);
    if (this.#inString) return this.#inText(sign, at);
    switch (sign) {
      case QUOTE:
        this.#inString = true;
        return at + 1;
      case OPEN_OBJECT:
      case OPEN_LIST:
        this.#depth += 1;
        return at + 1;
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        if (this.#depth === 0) return this.#ended(at);
        this.#depth -= 1;
        return this.#depth === 0 ? this.#ended(at + 1) : at + 1;
      case COMMA:
        return this.#depth === 0 ? this.#ended(at) : at + 1;
      default:
        return this.#depth === 0 && sign <= SPACE ? this.#ended(at) : at + 1;
    }
  }

  #inText(sign: number, at: number): number {
    if (this.#escaped) this.#escaped = false;
    else if (sign === BACKSLASH) this.#escaped = true;
    else if (sign === QUOTE) {
      this.#inString = false;
      if (this.#depth === 0) return this.#ended(at + 1);
    }
    return at + 1;
  }

  #ended(at: number): number {
    this.isWhole = true;
    return at;
  }
}

const QUOTE = 34;
const COMMA = 44;
const OPEN_LIST = 91;
const BACKSLASH = 92;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;
const SPACE = 32;

function notJson(): InvalidJson {
  return new InvalidJson('The body is not a JSON object in UTF-8.');
}
