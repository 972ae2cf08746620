// How much of the random or enumerated cases a run plays. `npm test`, and with it the gate: enough to show each broken
// law that docs/testing.md lists. `npm run test:full`: everything, and sequences that no run has played before.
import { randomInt } from 'node:crypto';

const isFull = process.env['NIGHTSHIFT_TEST_DEPTH'] === 'full';

export function depth<T>(gate: T, full: T): T {
  return isFull ? full : gate;
}

/**
 * Seeds 1 to `gate`; at full depth 1 to `full`, and a quarter as many new random ones, which are printed.
 * NIGHTSHIFT_SEED=17 plays that one alone; the variable that `variable` names sets the number instead.
 */
export function seedsOf(gate: number, full: number, variable: string): number[] {
  const only = process.env['NIGHTSHIFT_SEED'];
  if (only !== undefined) return [Number(only)];
  const given = process.env[variable];
  if (given !== undefined) return range(1, Number(given));
  if (!isFull) return range(1, gate);
  const drawn = range(randomInt(1_000_000, 1_000_000_000), Math.ceil(full / 4));
  process.stdout.write(`Beside seeds 1 to ${full}, seeds ${drawn[0]} to ${drawn.at(-1)} are played.\n`);
  return [...range(1, full), ...drawn];
}

function range(from: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => from + index);
}
