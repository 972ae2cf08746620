/** A value of this browser, stored as JSON and shared by its tabs. Without local storage it lasts until the page is left. */
import { useSyncExternalStore } from 'react';

export type StoredJson<Value> = { read: () => Value; set: (value: Value) => void; use: () => Value };

/** `parse`: of what is stored, by this or another version; null: it is not valid, and `none` is used. */
export function storedJson<Value>(
  name: string,
  parse: (stored: unknown) => Value | null,
  none: Value,
): StoredJson<Value> {
  const key = `nightshift.${name}`;
  const listeners = new Set<() => void>();
  let text: string | null = null;
  let value = none;

  const take = (stored: string | null): void => {
    if (stored === text) return;
    text = stored;
    value = stored === null ? none : (parse(jsonOf(stored)) ?? none);
  };
  take(storedText(key));
  const spread = (): void => {
    for (const notify of listeners) notify();
  };
  const listen = (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  const read = (): Value => value;
  // By another tab. Without a key everything was deleted.
  addEventListener('storage', (event) => {
    if (event.key !== key && event.key !== null) return;
    take(storedText(key));
    spread();
  });
  return {
    read,
    set(next) {
      take(JSON.stringify(next));
      if (text !== null) store(key, text);
      spread();
    },
    use: () => useSyncExternalStore(listen, read),
  };
}

function storedText(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function store(key: string, text: string): void {
  try {
    localStorage.setItem(key, text);
  } catch {
    // The value lasts as long as the page.
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
