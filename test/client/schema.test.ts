// The types of the client are those of the document, and every operation of it has a method.
import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { CLIENT_SCHEMA, apiDocument, clientSchema, type Document } from '../../scripts/client-schema.ts';
import { createClient } from '../../src/client/index.ts';

let document: Document;
beforeAll(async () => {
  document = await apiDocument();
});

test('the types are those of the document (`node scripts/client-schema.ts` generates them)', () => {
  expect(readFileSync(CLIENT_SCHEMA, 'utf8')).toBe(clientSchema(document));
});

test('every operation of the document has a method of the client', async () => {
  const asked = new Set<string>();
  const client = createClient({
    url: 'http://api',
    retries: 0,
    fetch: async (input, init) => {
      if (typeof input !== 'string') throw new Error('an address is text');
      const path = new URL(input).pathname.replaceAll(/\b(?:one|two)\b/g, '{}');
      asked.add(`${init?.method ?? 'GET'} ${path}`);
      return Response.json({ data: [], next_cursor: null, status: 'completed' }, { status: 422 });
    },
  });
  for (const method of methodsOf(client)) {
    const made = method('one', 'two', {});
    if (isIterable(made)) for await (const _ of made) break;
    else await made;
  }
  const named = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, '{}')}`),
  );
  expect([...asked].sort()).toEqual(named.sort());
});

type Call = (...given: unknown[]) => unknown;

/** Except those that are composed of others. Failures do not matter: only the request is checked. */
function methodsOf(of: object): Call[] {
  return Object.entries(of).flatMap(([name, member]): Call[] => {
    if (['request', 'run', 'wait'].includes(name)) return [];
    if (typeof member !== 'function') return methodsOf(member);
    return [(...given) => forgiving(member(...given))];
  });
}

function forgiving(made: unknown): unknown {
  if (made instanceof Promise) return made.catch(() => undefined);
  return isIterable(made)
    ? (async function* () {
        try {
          yield* made;
        } catch {
          // Only its request is checked.
        }
      })()
    : made;
}

function isIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
