/** What was measured of operations behind histories of several lengths, and the figures made of it. */
import { alone, growth, median, percentile } from '../figures.ts';
import type { Figure } from '../figures.ts';

/** An operation, and by how much the longest history may make it dearer than `from` messages do. Null: it may grow. */
export type Operation = { name: string; unit: string; from: number; bound: number | null };

export class Samples {
  readonly #of = new Map<Operation, Map<number, number[]>>();

  add(operation: Operation, length: number, values: readonly number[]): void {
    const lengths = this.#of.get(operation) ?? new Map<number, number[]>();
    this.#of.set(operation, lengths);
    lengths.set(length, [...(lengths.get(length) ?? []), ...values]);
  }

  /** A median for each length, and what the longest costs more. In the order in which they were added. */
  figures(): Figure[] {
    return [...this.#of].flatMap(([{ name, unit, from, bound }, lengths]) => {
      const known = [...lengths].sort(([a], [b]) => a - b);
      const last = known.at(-1)?.[1] ?? [];
      return [
        ...known.map(([length, values]) =>
          alone(`${name}, ${length.toLocaleString('en')} messages`, unit, median(values)),
        ),
        // Of the better quarter: what else the machine did is no part of what grows.
        ...(bound === null
          ? []
          : [growth(name, percentile(lengths.get(from) ?? [], 0.25), percentile(last, 0.25), bound)]),
      ];
    });
  }
}
