/**
 * What the contract names and nobody built yet: refused as `unsupported`, never ignored. Whoever builds one takes it out
 * of here and puts it into its schema.
 */
const MEMBERS: ReadonlySet<string> = new Set([
  // Of a config.
]);

const VALUES: ReadonlyMap<string, (value: unknown) => boolean> = new Map();

export function isMemberNotBuilt(name: string): boolean {
  return MEMBERS.has(name);
}

/** Of a value that its schema does not take. */
export function isValueNotBuilt(member: string, value: unknown): boolean {
  return VALUES.get(member)?.(value) ?? false;
}
