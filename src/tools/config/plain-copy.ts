/**
 * Copies the export of a config file as plain data for the validator: without members that are `undefined`, and with a
 * symbol in place of an object that JSON cannot hold (a Map or a promise would seem to be empty). Functions stay.
 */

/** Members that belong to others: schemas and provider parameters. Only their first level is copied. */
const OPAQUE = ['input', 'input_schema', 'parameters'];

/** Deeper than any valid config, and short where a config contains itself. */
const DEEPEST = 8;

export function plainCopy(value: unknown, depth = 0): unknown {
  if (Array.isArray(value))
    return depth > DEEPEST ? [] : value.map((item: unknown) => plainCopy(item, depth + 1));
  if (typeof value !== 'object' || value === null) return value;
  if (!isPlain(value)) return Symbol(`a ${value.constructor.name}`);
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  if (depth > DEEPEST) return {};
  return Object.fromEntries(
    entries.map(([name, member]: [string, unknown]) => [
      name,
      OPAQUE.includes(name) && !Array.isArray(member) ? ownCopy(member) : plainCopy(member, depth + 1),
    ]),
  );
}

function ownCopy(value: unknown): unknown {
  return typeof value === 'object' && value !== null && isPlain(value) ? { ...value } : value;
}

/** Whether the object was created by an object literal, in any realm. */
function isPlain(value: object): boolean {
  if (Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
