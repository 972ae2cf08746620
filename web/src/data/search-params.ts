/** The search parameters of an address. */

/** The same ones with another value of one of them; undefined: without it. */
export function withParam<Name extends string>(
  search: { readonly [One in Name]?: string },
  name: Name,
  value: string | undefined,
): { [One in Name]?: string } {
  const next: { [One in Name]?: string } = { ...search };
  if (value === undefined) delete next[name];
  else next[name] = value;
  return next;
}
