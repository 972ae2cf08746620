/** Statistics. Pure. */

/** The smallest value that is not exceeded by at least this share of all values; NaN without values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** The slope of the values by least squares; NaN for fewer than two values. */
export function slope(points: readonly (readonly [place: number, value: number])[]): number {
  const mean = (of: 0 | 1): number => points.reduce((sum, point) => sum + point[of], 0) / points.length;
  const [middle, level] = [mean(0), mean(1)];
  const rise = points.reduce((sum, [place, value]) => sum + (place - middle) * (value - level), 0);
  const spread = points.reduce((sum, [place]) => sum + (place - middle) ** 2, 0);
  return rise / spread;
}

/** One line of the report. `null`: not measured or not applicable. */
export type Figure = {
  name: string;
  unit: string;
  nightshift: number | null;
  baseline: number | null;
  goal: Goal | null;
};

export type Goal = { of: 'value' | 'ratio'; is: 'at least' | 'at most'; bound: number };

export const atLeast = (bound: number): Goal => ({ of: 'value', is: 'at least', bound });
export const atMost = (bound: number): Goal => ({ of: 'value', is: 'at most', bound });

/** A figure of Nightshift alone, without a counterpart in the baseline. */
export function alone(name: string, unit: string, nightshift: number | null, goal: Goal | null = null): Figure {
  return { name, unit, nightshift, baseline: null, goal };
}

/** The growth of the cost of `name` between the shortest and the longest history. */
export function growth(name: string, first: number, last: number, bound: number): Figure {
  return alone(`${name}: growth`, '×', last / first, { of: 'value', is: 'at most', bound });
}

/** The ratio to the baseline in the same run. */
export function ratio({ nightshift, baseline }: Figure): number | null {
  return nightshift === null || baseline === null || baseline === 0 ? null : nightshift / baseline;
}

/** Null: no goal, or no value to compare. */
export function isMet(figure: Figure): boolean | null {
  const { goal } = figure;
  if (goal === null) return null;
  const value = goal.of === 'value' ? figure.nightshift : ratio(figure);
  if (value === null) return null;
  return goal.is === 'at most' ? value <= goal.bound : value >= goal.bound;
}
