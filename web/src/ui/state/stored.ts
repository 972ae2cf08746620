/** A setting of this browser, shared by its tabs. Without local storage it lasts until the page is left. */
import { useSyncExternalStore } from 'react';

export type Stored<Value extends string> = {
  read: () => Value;
  set: (value: Value) => void;
  use: () => Value;
};

/** The first of `values` is the default, which is not stored. `apply`: called with each value that is set. */
export function stored<Value extends string>(
  name: string,
  values: readonly [Value, ...Value[]],
  apply?: (value: Value) => void,
): Stored<Value> {
  const key = `nightshift.${name}`;
  const listeners = new Set<() => void>();
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
    } catch {
      unsaved = value;
    }
    apply?.(value);
    for (const notify of listeners) notify();
  };
  const listen = (listener: () => void): (() => void) => {
    const onStorage = (event: StorageEvent): void => {
      if (event.key === key) listener();
    };
    listeners.add(listener);
    addEventListener('storage', onStorage);
    return () => {
      listeners.delete(listener);
      removeEventListener('storage', onStorage);
    };
  };
  return { read, set, use: () => useSyncExternalStore(listen, read) };
}
