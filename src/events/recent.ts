/** The last 32 items: enough to recognize frames that arrive late. */
const MOST = 32;

export class Recent<T> {
  readonly #items = new Set<T>();

  add(item: T): void {
    this.#items.add(item);
    if (this.#items.size <= MOST) return;
    for (const oldest of this.#items) {
      this.#items.delete(oldest);
      return;
    }
  }

  has(item: T): boolean {
    return this.#items.has(item);
  }
}
