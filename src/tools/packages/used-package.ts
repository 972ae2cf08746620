/** A tool package as it stands in `tools` of the config file. What it was given is behind a function, so that no log shows it. */
const MARK = Symbol.for('nightshift.tool_package');

/** A tool package with its options: an entry of `tools` in the config file. */
export type UsedToolPackage = {
  /** The name of the package. */
  readonly tool_package: string;
  /** What it was given; a function, so that no log shows it. */
  readonly [MARK]: () => unknown;
};

/** `definition`, `options`: as they were written. */
type Written = { definition: unknown; options: unknown };

export function usedPackage(name: string, written: Written): UsedToolPackage {
  return { tool_package: name, [MARK]: () => written };
}

/** Marks the function that a package exports, so that one that was not called is told from a tool. */
export function markUncalled<Call extends object>(call: Call, name: string): Call {
  return Object.assign(call, { [MARK]: name });
}

/** `uncalled`: the package stands there without a call. Null: no package. Also for packages made by another copy of this one. */
export type ReadEntry = { kind: 'used'; written: Written } | { kind: 'uncalled'; name: string } | null;

export function readEntry(value: unknown): ReadEntry {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return null;
  const marked: unknown = Reflect.get(value, MARK);
  if (typeof marked === 'string') return { kind: 'uncalled', name: marked };
  if (typeof marked !== 'function') return null;
  const written: unknown = marked();
  if (typeof written !== 'object' || written === null) return null;
  return {
    kind: 'used',
    written: { definition: Reflect.get(written, 'definition'), options: Reflect.get(written, 'options') },
  };
}
