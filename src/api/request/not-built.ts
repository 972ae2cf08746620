/**
 * Fields and values that the API contract has but this version does not implement. They are refused as `unsupported`,
 * never ignored. When one is implemented, it moves from here into its schema.
 */
const MEMBERS: ReadonlySet<string> = new Set([]);

const VALUES: ReadonlyMap<string, (value: unknown) => boolean> = new Map();

export function isMemberNotBuilt(name: string): boolean {
  return MEMBERS.has(name);
}

/** For a value that the schema refuses. */
export function isValueNotBuilt(member: string, value: unknown): boolean {
  return VALUES.get(member)?.(value) ?? false;
}
