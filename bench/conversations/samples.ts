/** Measurements of operations at several history lengths, and the figures made from them. */
import { alone, growth, median, percentile, type Figure } from '../figures.ts';

/** An operation, and the maximum growth of its cost between `from` messages and the longest history. Null: no limit. */
export type Operation = { name: string; unit: string; from: number; bound: number | null };

export class Samples {
  readonly #of = new Map<Operation, Map<number, number[]>>();

  add(operation: Operation, length: number, values: readonly number[]): void {
    const lengths = this.#of.get(operation) ?? new Map<number, number[]>();
    this.#of.set(operation, lengths);
    lengths.set(length, [...(lengths.get(length) ?? []), ...values]);
  }

  /** A median for each length, and the growth. In the order of their addition. */
  figures(): Figure[] {
    return [...this.#of].flatMap(([{ name, unit, from, bound }, lengths]) => {
      const known = [...lengths].sort(([a], [b]) => a - b);
      const last = known.at(-1)?.[1] ?? [];
      return [
        ...known.map(([length, values]) =>
          alone(`${name}, ${length.toLocaleString('en')} messages`, unit, median(values)),
        ),
        // The fastest quarter, to exclude other load of the machine.
        ...(bound === null
          ? []
          : [growth(name, percentile(lengths.get(from) ?? [], 0.25), percentile(last, 0.25), bound)]),
      ];
    });
  }
}
