// Values that have broken other services: text that no database stores, numbers that no integer holds, names that every
// object has.

/** Names of properties that every plain object has. */
export const PROTOTYPE_NAMES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];

export const HOSTILE_TEXTS = [
  ...PROTOTYPE_NAMES,
  '',
  ' ',
  '\0',
  'a\0b',
  // Half a surrogate pair, and one in the wrong order.
  '\ud800',
  'a\udc00\ud800b',
  // With these `db/connection/codec.ts` encodes NUL and lone surrogates.
  '\uf8fe',
  '\uf8fe0000',
  '\uf8feud800',
  '\uffff',
  '\u202e',
  '\u2028',
  '🦊',
  'é'.repeat(300),
  'x'.repeat(5_000),
  "' or 1=1 --",
  '%',
  '%s',
  '_',
  '\\',
  '"',
  '../../etc/passwd',
  '..\\..',
  '{}',
  '[]',
  'null',
  '&|!():*',
  '${x}',
  'Infinity',
  '1970-01-01',
  '00000000-0000-0000-0000-000000000000',
];

/** Of a query parameter or header that is an integer. */
export const HOSTILE_NUMBERS = [
  'Infinity',
  '-Infinity',
  'NaN',
  '1e400',
  '1e22',
  '0x10',
  '-1',
  '0',
  '-0',
  '',
  ' 5',
  '1.5',
  '٣',
  '2147483648',
  '9007199254740991',
  '9007199254740993',
  '99999999999999999999',
];

/** In the place of any value of a body. */
export const HOSTILE_VALUES: readonly unknown[] = [
  null,
  true,
  0,
  -0,
  -1,
  1.5,
  1e300,
  5e-324,
  2 ** 31,
  2 ** 53,
  -(2 ** 53),
  '',
  '\0',
  '\ud800',
  '\uf8fe',
  'x'.repeat(3_000),
  ...PROTOTYPE_NAMES,
  [],
  {},
  [[]],
  [null],
  { '': '' },
  { '\0': '\0' },
  { '\ud800': '\udc00' },
  JSON.parse('{"__proto__": {"a": 1}, "constructor": 1}'),
  Array.from({ length: 2_000 }, () => 0),
];

/** In the place of a member of a cursor's key. */
export const HOSTILE_KEYS: readonly unknown[] = [
  ...HOSTILE_VALUES,
  2 ** 63,
  8.64e15,
  9e15,
  'main',
  'infinity',
  [1, 2, 3],
];

/** Members that a body does not have. */
export const UNKNOWN_MEMBERS: readonly [string, unknown][] = [
  ['extra', 1],
  ['\0', 1],
  ['\ud800', 1],
  ...PROTOTYPE_NAMES.flatMap((name): [string, unknown][] => [
    [name, 1],
    ['$schema', name],
    ['$ref', name],
    ['enum', [name]],
  ]),
];
