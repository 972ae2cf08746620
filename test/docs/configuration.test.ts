// docs/configuration.md lists the keys of the config file: those of the schema that checks the file.
import { expect, test } from 'vitest';
import { ClientTool } from '../../src/schema/config.ts';
import { ConfigSchema } from '../../src/tools/config/parse-config.ts';
import { codes, rowsOf, section } from './markdown.ts';

const PAGE = 'docs/configuration.md';

/** Leads to the schema of a section: the items of a list, the values of a map, or the section itself. */
const SECTIONS: readonly [string, readonly string[]][] = [
  ['Keys', []],
  ['`tools`', ['tools', 'items']],
  ['`roles`', ['roles', '*']],
  ['`mcp_servers`', ['mcp_servers', '*']],
  ['`limits`', ['limits']],
  ['`limits.http_fetch`', ['limits', 'http_fetch']],
  ['`limits.files`', ['limits', 'files']],
  ['`limits.run_command`', ['limits', 'run_command']],
  ['`prices`', ['prices', '*']],
];

test.each(SECTIONS)('the page lists the keys of: %s', (heading, steps) => {
  const [own = ''] = section(PAGE, heading).split('\n### ');
  expect(keysUnder(own).toSorted()).toEqual(keysOf(steps.reduce(step, ConfigSchema)).toSorted());
});

test('the page names the fields of a client-side tool', () => {
  expect(section(PAGE, '`roles`')).toContain(`{${keysOf(ClientTool).join(', ')}}`);
});

function step(schema: unknown, name: string): unknown {
  if (name === 'items') return member(schema, 'items');
  if (name === '*') return member(schema, 'additionalProperties');
  return member(member(schema, 'properties'), name);
}

function keysOf(schema: unknown): string[] {
  const keys = Object.keys(Object(member(schema, 'properties') ?? {}));
  if (keys.length === 0) throw new Error('The schema has no properties.');
  return keys;
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function keysUnder(text: string): string[] {
  return rowsOf(text).flatMap(([key]) => codes(key));
}
