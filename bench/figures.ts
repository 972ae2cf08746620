/** Numbers made of many. Pure. */

/** The smallest value that at least this share of all does not exceed; NaN of nothing. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** By how much the values rise for each unit of their places, by least squares; NaN of fewer than two. */
export function slope(points: readonly (readonly [place: number, value: number])[]): number {
  const mean = (of: 0 | 1): number => points.reduce((sum, point) => sum + point[of], 0) / points.length;
  const [middle, level] = [mean(0), mean(1)];
  const rise = points.reduce((sum, [place, value]) => sum + (place - middle) * (value - level), 0);
  const spread = points.reduce((sum, [place]) => sum + (place - middle) ** 2, 0);
  return rise / spread;
}

/** One line of the report. `null`: not measured, or nothing of the kind there. */
export type Figure = {
  name: string;
  unit: string;
  nightshift: number | null;
  baseline: number | null;
  goal: Goal | null;
};

export type Goal = { of: 'value' | 'ratio'; is: 'at least' | 'at most'; bound: number };

/** Of Nightshift alone: the baseline has nothing of the kind. */
export function alone(
  name: string,
  unit: string,
  nightshift: number | null,
  goal: Goal | null = null,
): Figure {
  return { name, unit, nightshift, baseline: null, goal };
}

/** How many times dearer `name` became from the first length of a history to the last one. */
export function growth(name: string, first: number, last: number, bound: number): Figure {
  return alone(`${name}: growth`, '×', last / first, { of: 'value', is: 'at most', bound });
}

/** To the baseline in the same run. */
export function ratio({ nightshift, baseline }: Figure): number | null {
  return nightshift === null || baseline === null || baseline === 0 ? null : nightshift / baseline;
}

/** Null where there is no goal, or nothing to hold against it. */
export function isMet(figure: Figure): boolean | null {
  const { goal } = figure;
  if (goal === null) return null;
  const value = goal.of === 'value' ? figure.nightshift : ratio(figure);
  if (value === null) return null;
  return goal.is === 'at most' ? value <= goal.bound : value >= goal.bound;
}
