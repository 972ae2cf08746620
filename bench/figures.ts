/** Numbers made of many. Pure. */

/** The smallest value that at least this share of all does not exceed; NaN of nothing. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
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
