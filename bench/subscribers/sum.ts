/** Sums up a text without keeping it: its length in bytes, and their hash (FNV-1a). */
export class Sum {
  #length = 0;
  #hash = 0x811c9dc5;

  /** Bytes as a string with one character per byte (`latin1`). */
  add(bytes: string): void {
    let hash = this.#hash;
    for (let at = 0; at < bytes.length; at += 1) hash = Math.imul(hash ^ bytes.charCodeAt(at), 0x01000193);
    this.#hash = hash;
    this.#length += bytes.length;
  }

  equals(other: Sum): boolean {
    return this.#length === other.#length && this.#hash === other.#hash;
  }
}

export function sumOf(text: string): Sum {
  const sum = new Sum();
  sum.add(Buffer.from(text, 'utf8').toString('latin1'));
  return sum;
}
