/**
 * Reads the config file, field by field. Every fault is collected with its path (`tools[2].effect: must be …`) and
 * reading continues, so that all faults are reported at once. A reader returns null for invalid and for missing values.
 */
export type Member = { value: unknown; path: string; faults: string[] };

export type Reader<T> = (member: Member) => T | null;

export function fault(member: Member, words: string): null {
  member.faults.push(member.path === '' ? words : `${member.path}: ${words}`);
  return null;
}

export function optional<T>(member: Member, read: Reader<T>): T | null {
  return member.value === undefined ? null : read(member);
}

export function required<T>(member: Member, read: Reader<T>): T | null {
  return member.value === undefined ? fault(member, 'is missing') : read(member);
}

export function text(member: Member): string | null {
  return typeof member.value === 'string' ? member.value : fault(member, 'must be a string');
}

export function filledText(member: Member): string | null {
  const { value } = member;
  return typeof value === 'string' && value.trim() !== ''
    ? value
    : fault(member, 'must be a non-empty string');
}

export function flag(member: Member): boolean | null {
  return typeof member.value === 'boolean' ? member.value : fault(member, 'must be true or false');
}

export function integer(least: number, most: number): Reader<number> {
  return (member) => {
    const { value } = member;
    return typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most
      ? value
      : fault(member, `must be a whole number from ${least} to ${most}`);
  };
}

export function oneOf<const Choice extends string>(choices: readonly Choice[]): Reader<Choice> {
  return (member) =>
    choices.find((choice) => choice === member.value) ?? fault(member, `must be ${either(choices)}`);
}

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** A tool name that providers accept. */
export function name(member: Member): string | null {
  const { value } = member;
  return typeof value === 'string' && NAME.test(value)
    ? value
    : fault(member, 'must be 1 to 64 letters, digits, "_" or "-"');
}

/** Returns the valid items; invalid ones are reported as faults. */
export function list<T>(read: Reader<T>): Reader<T[]> {
  return (member) => {
    if (!Array.isArray(member.value)) return fault(member, 'must be a list');
    const items: unknown[] = member.value;
    return items
      .map((value, index) => required({ ...member, value, path: `${member.path}[${index}]` }, read))
      .filter((item) => item !== null);
  };
}

/** The fields of an object: `known` ones, and reserved ones that are not supported yet. */
export type Shape = { what: string; known: readonly string[]; notBuilt?: readonly string[] };

/** The fields of an object of that shape, by name. Unknown fields are reported as faults. */
export function members(member: Member, shape: Shape): ((name: string) => Member) | null {
  const entries = entriesOf(member);
  if (entries === null) return null;
  for (const entry of entries) {
    if (entry.value === undefined || shape.known.includes(entry.key)) continue;
    fault(
      entry,
      shape.notBuilt?.includes(entry.key) === true
        ? 'is not supported yet'
        : `unknown field of ${shape.what}; known fields: ${shape.known.join(', ')}`,
    );
  }
  const values = new Map(entries.map(({ key, value }) => [key, value]));
  return (name) => ({ value: values.get(name), path: within(member.path, name), faults: member.faults });
}

/** The entries of a plain object. Other objects are refused: a Map or a promise would seem to be empty. */
export function entriesOf(member: Member): (Member & { key: string })[] | null {
  const { value } = member;
  if (!isPlain(value)) return fault(member, 'must be a plain object');
  return Object.entries(value).map(([key, entry]) => ({
    key,
    value: entry,
    path: within(member.path, key),
    faults: member.faults,
  }));
}

/** Whether the object was created by an object literal, in any realm. */
function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function within(path: string, key: string): string {
  if (!/^[\w-]+$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === '' ? key : `${path}.${key}`;
}

function either(choices: readonly string[]): string {
  const last = choices.at(-1) ?? '';
  return choices.length < 2 ? last : `${choices.slice(0, -1).join(', ')} or ${last}`;
}
