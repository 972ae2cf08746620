/** JSON that a statement gets together with its size: it is encoded once for both. */
import { encodeJson } from '../connection/codec.ts';

export class EncodedJson<T> {
  /** Also keeps the type of what the text encodes. */
  readonly value: T;
  readonly text: string;

  constructor(value: T) {
    this.value = value;
    this.text = encodeJson(value);
  }

  /** As PostgreSQL counts the bytes of a column of type `json`. */
  get bytes(): number {
    return Buffer.byteLength(this.text);
  }
}
