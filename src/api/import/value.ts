/**
 * Reads the text of one JSON value in pieces, finds its end, and enforces limits. Refuses a value that is too deep, too
 * long or too large at once, before it is parsed: parsing blocks the event loop.
 */
import { setImmediate } from 'node:timers/promises';
import { DEEPEST_JSON } from '../../core/json.ts';
import { InvalidJson, LONGEST_NUMBER, MOST_VALUES, tooComplex } from '../request/body.ts';
import { refused } from '../response/problem.ts';

/** A value with at least this many characters is parsed in a separate turn of the event loop. */
const LARGE = 256 * 1024;

/** The limits of one value, or of several together. */
export class Budget {
  readonly #megabytes: number;
  #characters = 0;
  #values = 0;

  constructor(megabytes: number) {
    this.#megabytes = megabytes;
  }

  takeText(characters: number): void {
    this.#characters += characters;
    if (this.#characters > this.#megabytes * 1024 * 1024) {
      const message = `One value of the body is larger than ${this.#megabytes} MB, the limit of a single value.`;
      throw refused('payload_too_large', message);
    }
  }

  takeValue(): void {
    this.#values += 1;
    if (this.#values > MOST_VALUES) throw tooComplex(`holds more than ${MOST_VALUES} values`);
  }
}

export class Value {
  readonly #budget: Budget;
  readonly #pieces: string[] = [];
  #length = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** Characters of the current number or literal. */
  #plain = 0;
  isWhole = false;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  /** Returns the index after the end of the value, or the end of the text. */
  read(text: string, from: number): number {
    let at = from;
    while (at < text.length && !this.isWhole) at = this.#sign(text, at);
    this.#length += at - from;
    this.#budget.takeText(at - from);
    this.#pieces.push(text.slice(from, at));
    return at;
  }

  /** Parses synchronously: for small values. */
  parse(): unknown {
    return parseText(this.#pieces.join(''));
  }

  /** Parses; yields to the event loop before and after if the value is large. */
  async parseInTurn(): Promise<unknown> {
    if (this.#length < LARGE) return this.parse();
    const text = this.#pieces.join('');
    await setImmediate();
    const parsed = parseText(text);
    await setImmediate();
    return parsed;
  }

  #sign(text: string, at: number): number {
    const sign = text.charCodeAt(at);
    if (this.#inString) return this.#inText(sign, at);
    if (sign <= SPACE || sign === COMMA || sign === COLON) this.#plain = 0;
    switch (sign) {
      case QUOTE:
        this.#inString = true;
        return at + 1;
      case OPEN_OBJECT:
      case OPEN_LIST:
        this.#opened();
        return at + 1;
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        if (this.#depth === 0) return this.#ended(at);
        this.#depth -= 1;
        return this.#depth === 0 ? this.#ended(at + 1) : at + 1;
      case COMMA:
        if (this.#depth === 0) return this.#ended(at);
        this.#budget.takeValue();
        return at + 1;
      default:
        if (this.#depth === 0 && sign <= SPACE) return this.#ended(at);
        this.#plain += 1;
        if (this.#plain > LONGEST_NUMBER) throw tooComplex(`holds a number of more than ${LONGEST_NUMBER} digits`);
        return at + 1;
    }
  }

  #opened(): void {
    this.#depth += 1;
    this.#plain = 0;
    this.#budget.takeValue();
    if (this.#depth > DEEPEST_JSON) throw tooComplex(`is nested deeper than ${DEEPEST_JSON} levels`);
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

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw notJson();
  }
}

export function notJson(): InvalidJson {
  return new InvalidJson('The body is not a JSON object in UTF-8.');
}

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_LIST = 91;
const BACKSLASH = 92;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;
const SPACE = 32;
