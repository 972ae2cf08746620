// Random numbers that are the same for the same seed. Each part of a run has a generator of its own, so that one part
// does not change the numbers of the others.

export type Random = {
  /** In [0, 1). */
  next(): number;
  /** An integer, from `least` to `most`, both included. */
  between(least: number, most: number): number;
  chance(share: number): boolean;
  pick<T>(from: readonly T[]): T;
  /** By weight; never one of weight 0. */
  weighted<T extends { weight: number }>(from: readonly T[]): T;
  /** A generator with another name. */
  of(name: string): Random;
};

export function random(seed: number, name = ''): Random {
  let state = hash(`${seed} ${name}`);
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1));
  const at = <T>(from: readonly T[], index: number): T => {
    const found = from[index];
    if (found === undefined) throw new Error('nothing to choose from');
    return found;
  };
  return {
    next,
    between,
    chance: (share) => next() < share,
    pick: (from) => at(from, between(0, from.length - 1)),
    weighted(from) {
      const possible = from.filter(({ weight }) => weight > 0);
      let left = next() * possible.reduce((sum, { weight }) => sum + weight, 0);
      const found = possible.findIndex(({ weight }) => (left -= weight) < 0);
      return at(possible, found === -1 ? possible.length - 1 : found);
    },
    of: (other) => random(seed, `${name}/${other}`),
  };
}

function hash(text: string): number {
  let value = 2_166_136_261;
  for (const unit of text) value = Math.imul(value ^ unit.charCodeAt(0), 16_777_619);
  return value | 0;
}
