/** The names of the config file in the style of the code: `timeout_ms` becomes `timeoutMs`. */

type Camel<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : Name;

type CamelNames<T> = { [Name in keyof T as Camel<Name & string>]: T[Name] };

export function camelNames<T extends object>(value: T): CamelNames<T> {
  const entries = Object.entries(value).map(([name, member]: [string, unknown]) => [
    name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
    member,
  ]);
  return Object.fromEntries(entries) as CamelNames<T>;
}
