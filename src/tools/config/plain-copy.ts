/**
 * Copies the export of a config file as plain data for the validator: without fields that are `undefined`, and with a
 * symbol in place of what JSON cannot hold: an instance of a class (a Map or a promise would seem to be empty), and
 * `undefined` as the value of a name (a header whose environment variable is not set). Functions stay.
 */
import { defined } from './defined.ts';

/**
 * JSON Schemas and provider parameters, whose content is not checked here: only their first level is copied. `*`: any
 * name or index.
 */
const OPAQUE = places('tools.*.input_schema', 'roles.*.parameters', 'roles.*.client_tools.*.input_schema');

/** Schemas of other libraries: not copied. */
const FOREIGN = places('tools.*.input', 'roles.*.output_schema');

/** Objects whose members are not fields, but names with values. */
const BY_NAME = places(
  'roles',
  'prices',
  'mcp_servers',
  'mcp_servers.*.env',
  'mcp_servers.*.headers',
  'limits.run_command.env',
);

/** Deeper than any valid config, and short where a config contains itself. */
const DEEPEST = 8;

/** `place`: the names and indices that lead to the value. */
export function plainCopy(value: unknown, place: readonly string[] = []): unknown {
  if (Array.isArray(value))
    return place.length > DEEPEST
      ? []
      : value.map((item: unknown, index) => plainCopy(item, [...place, String(index)]));
  // The validator would skip it.
  if (value === undefined && isAt(place.slice(0, -1), BY_NAME)) return Symbol('undefined');
  if (typeof value !== 'object' || value === null || isAt(place, FOREIGN)) return value;
  if (isAt(place, OPAQUE)) return isPlain(value) ? defined(value) : value;
  if (!isPlain(value)) return Symbol(classOf(value));
  if (place.length > DEEPEST) return {};
  const members = Object.entries(value).map(([name, member]) => [name, plainCopy(member, [...place, name])]);
  return defined(Object.fromEntries(members));
}

function places(...paths: string[]): string[][] {
  return paths.map((path) => path.split('.'));
}

function isAt(place: readonly string[], known: readonly string[][]): boolean {
  return known.some(
    (names) => names.length === place.length && names.every((name, index) => name === '*' || name === place[index]),
  );
}

function classOf({ constructor }: object): string {
  return typeof constructor === 'function' && constructor.name !== ''
    ? `a ${constructor.name}`
    : 'an instance of a class';
}

/** Whether the object was created by an object literal, in any realm. */
function isPlain(value: object): boolean {
  if (Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
