// docs/configuration.md lists the keys of the config file: those of the schema that checks the file. Each object has a
// section of its own, or its keys stand in the row of the key that holds it: `{type, threshold, keep_turns, model}`.
import { expect, test } from 'vitest';
import { CONFIG_COMPONENTS } from '../../src/schema/config.ts';
import { ConfigSchema } from '../../src/tools/config/parse-config.ts';
import { codes, prose, read, rowsOf, section } from './markdown.ts';

const PAGE = 'docs/configuration.md';

/** An object of the config file. `place`: the keys that lead to it (`limits.tenant`), without names and numbers. */
type Place = { place: string; keys: string[] };

const PLACES = placesIn(ConfigSchema, '');
const HEADINGS = prose(read(PAGE)).flatMap(({ line }) => /^#{2,3} (`.+`)$/.exec(line)?.[1] ?? []);
const hasSection = ({ place }: Place): boolean => place === '' || HEADINGS.includes(`\`${place}\``);
const rowsAt = (place: string): string[][] => {
  const [own = ''] = section(PAGE, place === '' ? 'Keys' : `\`${place}\``).split('\n### ');
  return rowsOf(own);
};

test('the objects of the config file are found, and each section is about one of them', () => {
  const places = PLACES.map(({ place }) => place);
  expect(places).toEqual(expect.arrayContaining(['tools', 'roles.compaction', 'limits.tenant', 'oidc.grants']));
  expect(HEADINGS.filter((heading) => !places.includes(heading.replaceAll('`', '')))).toEqual([]);
});

test.each(PLACES.filter(hasSection))('the page lists the keys of “$place”', ({ place, keys }) => {
  const rows = rowsAt(place);
  expect(rows.flatMap(([key]) => codes(key)).toSorted()).toEqual(keys.toSorted());
  expect(rows.filter((cells) => cells.length < 3 || cells.includes(''))).toEqual([]);
});

test.each(PLACES.filter((one) => !hasSection(one)))('the page names the keys of “$place”', ({ place, keys }) => {
  const outer = place.split('.').slice(0, -1).join('.');
  const row = rowsAt(outer).find(([key]) => codes(key).includes(place.split('.').at(-1) ?? ''));
  expect(codes(row?.[1])).toContain(`{${keys.join(', ')}}`);
});

/** Also in lists, and below any name. */
function placesIn(schema: unknown, place: string): Place[] {
  const whole = resolve(schema);
  const inner = member(whole, 'items') ?? member(whole, 'additionalProperties');
  // JSON Schemas and parameters, whose keys the platform does not know.
  if (inner === true) return [];
  if (typeof inner === 'object') return placesIn(inner, place);
  const properties = Object.entries(Object(member(whole, 'properties') ?? {}));
  if (properties.length === 0) return [];
  const below = properties.flatMap(([name, one]) => placesIn(one, place === '' ? name : `${place}.${name}`));
  return [{ place, keys: properties.map(([name]) => name) }, ...below];
}

function resolve(schema: unknown): unknown {
  const name = member(schema, '$ref');
  if (name === undefined) return schema;
  const found = CONFIG_COMPONENTS.find((one) => `${String(member(one, '$id'))}#` === name);
  if (found === undefined) throw new Error(`The config file has no component ${JSON.stringify(name)}.`);
  return found;
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
