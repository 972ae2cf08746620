/**
 * Any value as text for a model: a string as it is, nothing as nothing, bytes as UTF-8, everything else as JSON. What
 * JSON lacks is written as what comes nearest. Throws where the value does (a getter, `toJSON`), and for what is too
 * large or too deep.
 */
export function textOf(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value === 'string') return value;
  if (value instanceof Uint8Array) return decoded(value);
  // `stringify` gives undefined for functions and symbols, whatever its type says.
  const text: string | undefined = JSON.stringify(value, replacer());
  return text ?? '';
}

/** Replaces what JSON cannot hold; knows what each value stands within, so that a cycle ends. */
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
  // A Buffer has turned itself into a list of numbers by now: its holder still has it.
  const raw: unknown = typeof holder === 'object' && holder !== null ? Reflect.get(holder, key) : value;
  return raw instanceof Uint8Array ? decoded(raw) : value;
}

function decoded(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
