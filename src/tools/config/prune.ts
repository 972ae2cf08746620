/** Removes the faulty parts of a value, so that the checks that follow see only what has the right type. */
import type { Fault, Path } from '../../schema/fault.ts';

/** What is left of a value: any member and any item may be missing. */
export type Pruned<T> = T extends (...given: never[]) => unknown
  ? T
  : T extends readonly (infer Item)[]
    ? (Pruned<Item> | undefined)[]
    : T extends object
      ? { [Name in keyof T]?: Pruned<T[Name]> | undefined }
      : T;

/** Changes `value`. Items of lists become `undefined`, so that the others keep their places. */
export function prune(value: unknown, faults: readonly Fault[]): void {
  for (const { path } of faults) remove(value, path);
}

function remove(value: unknown, path: Path): void {
  const [name, ...rest] = path;
  if (typeof value !== 'object' || value === null || name === undefined) return;
  if (rest.length > 0) remove(Reflect.get(value, name), rest);
  else if (Array.isArray(value)) Reflect.set(value, name, undefined);
  else Reflect.deleteProperty(value, name);
}
