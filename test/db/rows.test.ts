// Rows and columns of statements: the text that is built from one typed list of columns.
import { sql, type SQL } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import { describe, expect, test } from 'vitest';
import { EncodedJson } from '../../src/db/rows/encoded-json.ts';
import { columns, recordset } from '../../src/db/rows/recordset.ts';
import { copied, fixed, insertInto, written } from '../../src/db/rows/written-columns.ts';
import { memories } from '../../src/db/schema/workers.ts';
import { toolLists } from '../../src/db/schema/model-calls.ts';

function query(statement: SQL): { sql: string; params: unknown[] } {
  const { sql: text, params } = new PgDialect().sqlToQuery(statement);
  return { sql: text, params };
}

type Row = { id: string; at: number | null; content: unknown };

describe('a recordset', () => {
  test('passes all rows as one parameter, times as text, and leaves out what is null', () => {
    const rows = recordset('r', columns<Row>({ id: ['uuid', ({ id }) => id], at: ['timestamptz', ({ at }) => at] }));
    expect(
      query(
        rows.table([
          { id: 'a', at: 0, content: 1 },
          { id: 'b', at: null, content: 1 },
        ]),
      ),
    ).toEqual({
      sql: 'jsonb_to_recordset($1::jsonb) as r(id uuid, at timestamptz)',
      params: ['[{"id":"a","at":"1970-01-01T00:00:00.000Z"},{"id":"b"}]'],
    });
    expect(query(rows.table([{ id: 'a', at: 1, content: 1 }])).sql).toBe(query(rows.table([])).sql);
  });

  test('is read as json if a column keeps its text, however its rows are encoded', () => {
    const rows = recordset('r', columns<Row>({ content: ['json', ({ content }) => content] }));
    const row = { id: 'a', at: null, content: { z: 1, a: null } };
    expect(query(rows.table([row]))).toEqual({
      sql: 'json_to_recordset($1::json) as r(content json)',
      params: ['[{"content":{"z":1,"a":null}}]'],
    });
    expect(query(rows.tableOf([rows.encode(row)]))).toEqual(query(rows.table([row])));
  });
});

describe('JSON that is encoded already', () => {
  const rows = recordset(
    'r',
    columns<Row>({ id: ['uuid', ({ id }) => id], content: ['json', ({ content }) => content] }),
  );
  const value = { text: '\uF8FE \0 é', list: [1, null] };

  test('is not encoded again, among other columns and alone', () => {
    const row = { id: 'a', at: null, content: value };
    expect(JSON.parse(rows.encode({ ...row, content: new EncodedJson(value) }))).toEqual(JSON.parse(rows.encode(row)));
    expect(rows.encode({ ...row, content: new EncodedJson([1]) })).toBe('{"id":"a","content":[1]}');
    const alone = recordset('r', columns<Row>({ content: ['json', ({ content }) => content] }));
    expect(alone.encode({ ...row, content: new EncodedJson('b') })).toBe('{"content":"b"}');
  });

  test('tells its bytes in UTF-8, with the replacements of characters that PostgreSQL cannot store', () => {
    const encoded = new EncodedJson(value);
    expect(encoded.bytes).toBe(Buffer.byteLength(encoded.text));
    // A mark has three bytes, and four digits follow it.
    expect(new EncodedJson('é \0').bytes).toBe(2 + 2 + 1 + 3 + 4);
  });
});

describe('texts that PostgreSQL cannot store in JSON', () => {
  type Both = { text: string; content: unknown };
  const rows = recordset(
    'r',
    columns<Both>({ text: ['text', ({ text }) => text], content: ['json', ({ content }) => content] }),
  );

  test('are encoded in a column of JSON, and not in a column of text, which is read as it is', () => {
    const row = { text: 'a \uF8FE \uD800', content: { b: '\uF8FE \0' } };
    expect(rows.encode(row)).toBe('{"text":"a \uF8FE \uFFFD","content":{"b":"\uF8FEf8fe \uF8FE0000"}}');
    expect(rows.encodeAll([row, { text: 'c', content: null }])).toBe(`[${rows.encode(row)},{"text":"c"}]`);
  });
});

describe('the columns that a statement writes', () => {
  const sources = {
    tenantId: sql`ctx.tenant_id`,
    hash: ({ hash }: { hash: string }) => hash,
    tools: () => [],
    usedAt: { of: () => 5, as: (given: SQL, stored: SQL) => sql`greatest(${given}, ${stored})` },
  };

  test('are named and given in the same order, with the types of the table', () => {
    const list = written<typeof toolLists, { hash: string }>(toolLists, sources, { given: 'r', stored: 'l' });
    expect(list.insert).toBe(
      'insert into tool_lists (tenant_id, hash, tools, used_at) select ctx.tenant_id, r.hash, r.tools, greatest(r.used_at, l.used_at)',
    );
    expect(list.set).toBe(
      'tenant_id = ctx.tenant_id, hash = r.hash, tools = r.tools, used_at = greatest(r.used_at, l.used_at)',
    );
    expect(list.fields.map(({ name, type }) => `${name} ${type}`)).toEqual([
      'hash text',
      'tools json',
      'used_at timestamptz',
    ]);
  });

  test('a column that is misspelt, missing or of another type does not compile', () => {
    const { tenantId, hash, tools } = sources;
    // @ts-expect-error `tools` is missing
    expect(query(insertInto(toolLists, { tenantId, hash: sql`'h'` })).sql).toContain('(tenant_id, hash)');
    // @ts-expect-error `hash` is a text
    written<typeof toolLists, object>(toolLists, { tenantId, hash: () => 1, tools }, { given: 'r' });
    expect(() =>
      // @ts-expect-error the column is `hash`
      written<typeof toolLists, { hash: string }>(toolLists, { tenantId, hsah: hash }, { given: 'r' }),
    ).toThrow('The table tool_lists has no column hsah.');
  });

  test('a spread object with a column that the table does not have is refused when the list is made', () => {
    const more = { label: sql`'x'` };
    const list = { ...copied(memories, 'm', ['workerId', 'tenantId', 'key', 'value']), ...more };
    expect(() => insertInto(memories, list)).toThrow('The table memories has no column label.');
  });

  test('a fixed text has no parameters', () => {
    expect(() => fixed(sql`select ${1}`)).toThrow('has a parameter: select $1');
  });
});
