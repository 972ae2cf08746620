/** The last few of many: enough to know again what came late. */
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
