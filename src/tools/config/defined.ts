/** The members that are set. */
type Defined<T> = { [Name in keyof T]?: Exclude<T[Name], undefined> };

export function defined<T extends object>(value: T): Defined<T> {
  const entries: [string, unknown][] = Object.entries(value);
  return Object.fromEntries(entries.filter(([, member]) => member !== undefined)) as Defined<T>;
}
