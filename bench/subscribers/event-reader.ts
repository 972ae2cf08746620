/**
 * One client of a stream, cheaper than parsing all of it: a delta with the same prefix as the one before belongs to the
 * same message and attempt, so its text is added without parsing. Everything else is parsed. Missing, repeated and
 * unordered deltas and entries are counted as faults.
 */
import { monotonic } from '../talk.ts';
import { Sum, sumOf } from './sum.ts';

/** The latency is measured for one delta in this many. */
const SAMPLED = 20;

const DELTA = '"delta":"';
const SEQUENCE = '","sequence":';

type Spoken = { message: string; attempt: number; sequence: number; sum: Sum };

export class EventReader {
  /** The number of the last entry. */
  lastId = 0;
  /** Lost, repeated or unordered: entries, and deltas. */
  entryFaults = 0;
  deltaFaults = 0;
  pieces = 0;
  readonly delays: number[] = [];
  #rest = '';
  /** The prefix of every delta of the message, up to its text. */
  #head = '';
  #spoken: Spoken | null = null;
  #completed: Sum | null = null;
  #received: number;

  /** `place`: the index among all clients, so that they measure different deltas. */
  constructor(place: number) {
    this.#received = place % SAMPLED;
  }

  /** The text received for the last completed assistant message; null: none. */
  get completed(): Sum | null {
    return this.#completed;
  }

  /** A connection starts. */
  begin(): void {
    this.#rest = '';
  }

  /** Bytes, as a string of as many characters (`latin1`). */
  read(bytes: string): void {
    this.pieces += 1;
    const text = this.#rest === '' ? bytes : this.#rest + bytes;
    let at = 0;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n', at)) {
      if (!this.#goOn(text, at, end)) this.#take(Buffer.from(text.slice(at, end), 'latin1').toString('utf8'));
      at = end + 2;
    }
    this.#rest = at === text.length ? '' : text.slice(at);
  }

  /** Whether it was the next delta of the current message. */
  #goOn(text: string, at: number, end: number): boolean {
    const spoken = this.#spoken;
    if (spoken === null || this.#head === '' || !text.startsWith(this.#head, at)) return false;
    const from = at + this.#head.length;
    const to = text.indexOf(SEQUENCE, from);
    const delta = text.slice(from, to);
    // Escaped text must be parsed first.
    if (to < 0 || to > end || delta.includes('\\')) return false;
    this.#count(spoken, Number.parseInt(text.slice(to + SEQUENCE.length, end), 10));
    spoken.sum.add(delta);
    this.#sample(delta);
    return true;
  }

  #sample(delta: string): void {
    this.#received += 1;
    if (this.#received % SAMPLED !== 0) return;
    const stamp = delta.indexOf('@');
    if (stamp >= 0) this.delays.push(monotonic() - Number.parseInt(delta.slice(stamp + 1), 10));
  }

  #count(spoken: Spoken, sequence: number): void {
    if (sequence !== spoken.sequence + 1) this.deltaFaults += 1;
    spoken.sequence = sequence;
  }

  #take(frame: string): void {
    const id = /^id: (\d+)$/m.exec(frame)?.[1];
    const [, event, json = ''] = /^event: (\S+)\ndata: (.*)$/m.exec(frame) ?? [];
    // A frame without an event contains the start position of the stream.
    if (id !== undefined) this.#number(Number(id), event === undefined ? 0 : 1);
    if (event === 'ContentSnapshot') {
      const { message_id: message, attempt, sequence, text } = JSON.parse(json);
      this.#spoken = { message, attempt, sequence, sum: sumOf(text) };
    } else if (event === 'ContentDelta') {
      const { message_id: message, attempt, sequence, delta } = JSON.parse(json);
      const spoken = this.#of(message, attempt);
      this.#count(spoken, sequence);
      spoken.sum.add(Buffer.from(delta, 'utf8').toString('latin1'));
      this.#head = frame.slice(0, frame.indexOf(DELTA) + DELTA.length);
    } else if (event === 'MessageCompleted') {
      const { message_id: message, role } = JSON.parse(json);
      const spoken = this.#spoken;
      if (role === 'assistant') this.#completed = spoken !== null && spoken.message === message ? spoken.sum : null;
    }
  }

  #number(id: number, step: 0 | 1): void {
    if (id !== this.lastId + step) this.entryFaults += 1;
    this.lastId = id;
  }

  #of(message: string, attempt: number): Spoken {
    const known = this.#spoken;
    if (known?.message === message && known.attempt === attempt) return known;
    return (this.#spoken = { message, attempt, sequence: -1, sum: new Sum() });
  }
}
