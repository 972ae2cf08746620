// The folder of a tenant's workspaces: a separate one for each possible name of a tenant, directly in the root.
import path from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { folderOf } from '../../src/tools/built-in/files/workspaces.ts';

test.each([
  ['acme', 'acme'],
  ['a.b', 'a.b'],
  ['_a', '_a'],
  ['__a', '__a'],
  ['_', '_'],
  ['.a', '_.a'],
  ['_.a', '__.a'],
  ['__.a', '___.a'],
  ['.', '_.'],
  ['..', '_..'],
  ['_..', '__..'],
  ['...', '_...'],
])('of %s is %s', (name, folder) => {
  expect(folderOf(name)).toBe(folder);
});

const tenant = fc.stringMatching(/^[A-Za-z0-9_.-]{1,64}$/);
const odd = fc.stringMatching(/^[_.]{1,4}a?$/);

test('is in the root, whatever the name', () => {
  fc.assert(
    fc.property(fc.oneof(tenant, odd), (name) => {
      const folder = path.resolve('/root', folderOf(name));
      expect(path.dirname(folder)).toBe('/root');
      expect(path.basename(folder).startsWith('.')).toBe(false);
    }),
  );
});

test('is no other tenant’s', () => {
  fc.assert(
    fc.property(fc.oneof(tenant, odd), fc.oneof(tenant, odd), (one, other) => {
      expect(folderOf(one) === folderOf(other)).toBe(one === other);
    }),
    { numRuns: 2_000 },
  );
});
