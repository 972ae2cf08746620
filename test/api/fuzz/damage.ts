// Damage to the body of a request as it is sent: text that is no JSON, and JSON that no program writes.
import * as fc from 'fast-check';
import type { Arbitrary } from 'fast-check';

type Message = { headers: Record<string, string>; body: string | Buffer | undefined };

/** The message with the damage. */
export type Damage = (message: Message) => Message;

const TYPES = [
  'text/plain',
  'application/xml',
  'multipart/form-data; boundary=x',
  'application/json; charset=latin1',
  'x',
  'application/jsonx',
  '/',
];

const WHOLE_BODIES: readonly (string | Buffer)[] = [
  '',
  '{',
  'null',
  '[]',
  '"x"',
  '5',
  'NaN',
  '{"a":1e999}',
  '{"a":1}}',
  "{'a':1}",
  '[1,]',
  '"\\ud800"',
  '"\\u0000"',
  '\ufeff{}',
  Buffer.from([0xff, 0xfe, 0x7b, 0x7d]),
  Buffer.from('{"name":"\u00e9"}', 'latin1'),
  Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0]),
  '['.repeat(500),
  `${'{"a":'.repeat(150)}1${'}'.repeat(150)}`,
  `[${'0,'.repeat(100_001)}0]`,
  `{"a":${'9'.repeat(1_001)}}`,
  `{"a":"${'x'.repeat(1_100_000)}"}`,
];

const inText =
  (change: (text: string) => string): Damage =>
  (message) => ({
    ...message,
    body: change(typeof message.body === 'string' ? message.body : '{}'),
  });

function withHeader(name: string, value: string): Damage {
  return ({ headers, body }) => ({ headers: { ...headers, [name]: value }, body });
}

/** Of a member that is there, a second one before it, or after it. */
function withDuplicate(text: string, value: string): string {
  const name = /^\{("(?:[^"\\]|\\.)*"):/.exec(text)?.[1] ?? '"name"';
  return text.startsWith('{') ? `{${name}:${value}${text === '{}' ? '' : ','}${text.slice(1)}` : text;
}

const named = (name: string, damage: Damage): Damage => Object.assign(damage, { [fc.toStringMethod]: () => name });

export const damageOf: Arbitrary<Damage> = fc.oneof(
  fc.nat(100).map((percent) =>
    named(
      `cut off at ${percent} %`,
      inText((text) => text.slice(0, (text.length * percent) / 100)),
    ),
  ),
  fc.constantFrom(...TYPES).map((type) => named(`content-type ${type}`, withHeader('content-type', type))),
  fc
    .constantFrom('gzip', 'br', 'identity', 'x')
    .map((coding) => named(`encoded as ${coding}`, withHeader('content-encoding', coding))),
  fc
    .constantFrom(...WHOLE_BODIES)
    .map((body) =>
      named('another body', ({ headers }) => ({ headers: { 'content-type': 'application/json', ...headers }, body })),
    ),
  fc.constantFrom('1', 'null', '"x"', '[[]]', '{}').map((value) =>
    named(
      `a member twice, with ${value}`,
      inText((text) => withDuplicate(text, value)),
    ),
  ),
  fc.constantFrom('1e400', '-1e400', '1e-400', '-0', '1.0', '0.1e1', '123456789012345678901234567890').map((number) =>
    named(
      `a number ${number}`,
      inText((text) => text.replace(/(?<=[:,[])-?\d+(\.\d+)?(?=[,}\]])/, number)),
    ),
  ),
  fc.constantFrom('\\u0000', '\\ud800', '\\udc00\\ud800', '\\uf8fe', '\\u202e').map((escape) =>
    named(
      `a text with ${escape}`,
      inText((text) => text.replace(/(?<=:")/, escape)),
    ),
  ),
);
