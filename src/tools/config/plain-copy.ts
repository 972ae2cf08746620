/**
 * Copies the export of a config file as plain data for the validator: without members that are `undefined`, and with a
 * symbol in place of an object that JSON cannot hold (a Map or a promise would seem to be empty). Functions stay.
 */

/**
 * JSON Schemas and provider parameters, whose content is not checked here: only their first level is copied. `*`: any
 * name or index.
 */
const OPAQUE = [
  'tools.*.input',
  'tools.*.input_schema',
  'roles.*.parameters',
  'roles.*.client_tools.*.input_schema',
].map((place) => place.split('.'));

/** Deeper than any valid config, and short where a config contains itself. */
const DEEPEST = 8;

/** `place`: the names and indices that lead to the value. */
export function plainCopy(value: unknown, place: readonly string[] = []): unknown {
  if (Array.isArray(value))
    return place.length > DEEPEST
      ? []
      : value.map((item: unknown, index) => plainCopy(item, [...place, String(index)]));
  if (typeof value !== 'object' || value === null) return value;
  if (isOpaque(place)) return isPlain(value) ? Object.fromEntries(definedIn(value)) : value;
  if (!isPlain(value)) return Symbol(classOf(value));
  if (place.length > DEEPEST) return {};
  return Object.fromEntries(
    definedIn(value).map(([name, member]) => [name, plainCopy(member, [...place, name])]),
  );
}

function isOpaque(place: readonly string[]): boolean {
  return OPAQUE.some(
    (known) =>
      known.length === place.length && known.every((name, index) => name === '*' || name === place[index]),
  );
}

function definedIn(value: object): [string, unknown][] {
  return Object.entries(value).filter(([, member]) => member !== undefined);
}

function classOf(value: object): string {
  return typeof value.constructor === 'function' ? `a ${value.constructor.name}` : 'an object of a class';
}

/** Whether the object was created by an object literal, in any realm. */
function isPlain(value: object): boolean {
  if (Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
