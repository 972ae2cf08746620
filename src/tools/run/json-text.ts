/**
 * Converts any value to text for a model: strings unchanged, undefined to '', bytes as UTF-8, other values as JSON.
 * Values that JSON lacks are approximated. Throws if the value does (a getter, `toJSON`), or if it is too large or too
 * deep.
 */
export function textOf(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value === 'string') return value;
  if (value instanceof Uint8Array) return decoded(value);
  // `stringify` returns undefined for functions and symbols, contrary to its type.
  const text: string | undefined = JSON.stringify(value, replacer());
  return text ?? '';
}

/** Replaces values that JSON lacks. Tracks the parents of each value to detect cycles. */
function replacer(): (this: unknown, key: string, value: unknown) => unknown {
  const within: { source: unknown; written: unknown }[] = [];
  return function (this: unknown, key: string, source: unknown): unknown {
    while (within.length > 0 && within.at(-1)?.written !== this) within.pop();
    const written = nearest(source, this, key);
    if (typeof written !== 'object' || written === null) return written;
    if (within.some((outer) => outer.source === source)) return '[circular]';
    within.push({ source, written });
    return written;
  };
}

function nearest(value: unknown, holder: unknown, key: string): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  if (value instanceof Map) return [...value];
  if (value instanceof Set) return [...value];
  // A Buffer has already been converted to a list of numbers; read the original from its holder.
  const raw: unknown = typeof holder === 'object' && holder !== null ? Reflect.get(holder, key) : value;
  return raw instanceof Uint8Array ? decoded(raw) : value;
}

function decoded(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
