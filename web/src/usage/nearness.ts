/** How close a tenant is to a limit. Pure. */

export type Nearness = 'within' | 'near' | 'at' | 'above';

/** The share of a limit from which on it is near. */
const NEAR = 0.8;

/** A limit that was lowered can be exceeded: what exists stays. */
export function nearnessOf(used: number, limit: number): Nearness {
  if (used > limit) return 'above';
  if (used === limit) return 'at';
  return used >= limit * NEAR ? 'near' : 'within';
}
