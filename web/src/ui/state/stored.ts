/** A setting of this browser, shared by its tabs. Without local storage it lasts until the page is left. */
import { useSyncExternalStore } from 'react';

export type Stored<Value extends string> = {
  read: () => Value;
  set: (value: Value) => void;
  use: () => Value;
};

/** The first of `values` is the default, which is not stored. `apply`: called with each value that is set, in any tab. */
export function stored<Value extends string>(
  name: string,
  values: readonly [Value, ...Value[]],
  apply?: (value: Value) => void,
): Stored<Value> {
  const key = `nightshift.${name}`;
  const listeners = new Set<() => void>();
  /** What could not be stored, until something is: here or in another tab. */
  let unsaved: Value | null = null;

  const read = (): Value => {
    if (unsaved !== null) return unsaved;
    try {
      const kept = localStorage.getItem(key);
      return values.find((value) => value === kept) ?? values[0];
    } catch {
      return values[0];
    }
  };
  const set = (value: Value): void => {
    try {
      if (value === values[0]) localStorage.removeItem(key);
      else localStorage.setItem(key, value);
      unsaved = null;
    } catch {
      unsaved = value;
    }
    spread(value);
  };
  const spread = (value: Value): void => {
    apply?.(value);
    for (const notify of listeners) notify();
  };
  const listen = (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  // By another tab. Without a key everything was deleted.
  addEventListener('storage', (event) => {
    if (event.key !== key && event.key !== null) return;
    unsaved = null;
    spread(read());
  });
  return { read, set, use: () => useSyncExternalStore(listen, read) };
}
