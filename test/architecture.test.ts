// Holds the import table of the design, and what else keeps each thing in its place. What bends a rule is listed here
// with its reason; a rule that nobody bends any more loses its line.
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { bracketed, importsOf, readSource } from './core/source-text.ts';

const ROOT = path.join(import.meta.dirname, '..');

/** Which folder may import which; itself always. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  db: ['core'],
  queue: ['core'],
  bus: ['core'],
  llm: ['core'],
  tools: ['core'],
  events: ['core', 'db', 'bus'],
  agent: ['core'],
  commands: ['core', 'db', 'queue', 'bus'],
  workers: ['core', 'db', 'queue', 'bus', 'llm', 'tools', 'events', 'agent', 'commands'],
  api: ['core', 'db', 'commands', 'events'],
  client: ['core'],
  dev: [],
  'config.ts': ['core'],
};

/** Those that put the house together import what they like: no rule but that nobody imports them. */
const ASSEMBLERS = ['cli', 'index.ts'];

const BENT_IMPORTS: Readonly<Record<string, string>> = {
  'api → config.ts': 'the application is made from the part of the configuration that is its own',
};

/** Packages by the folders that may know of them. One that is not listed belongs nowhere yet. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  'drizzle-orm': ['db'],
  postgres: ['db'],
  bullmq: ['queue'],
  pg: ['queue'],
  ioredis: ['queue', 'bus', 'cli'],
  '@anthropic-ai/sdk': ['llm'],
  openai: ['llm'],
  ajv: ['tools', 'api'],
  'ajv-formats': ['tools', 'api'],
  fastify: ['api'],
  '@fastify/swagger': ['api'],
  '@fastify/swagger-ui': ['api'],
  '@fastify/type-provider-typebox': ['api'],
  typebox: ['api'],
  pino: ['api', 'workers', 'cli'],
  'p-timeout': ['queue', 'workers'],
  'prom-client': ['api', 'workers'],
  uuid: ['cli', 'llm'],
};

const BENT_PACKAGES: Readonly<Record<string, string>> = {};

/** Where the environment is read. */
const READS_ENV = ['config.ts', 'cli', 'dev'];

/** Files beyond 300 lines, each with its reason. */
const LONG_FILES: Readonly<Record<string, string>> = {
  'src/db/schema.ts': 'all tables on one page',
  'src/db/append.ts': 'one statement, and the rows it is fed',
};

type Source = { file: string; folder: string; text: string; bare: string; imports: string[] };

const sources: Source[] = readdirSync(path.join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .sort()
  .map((inside) => {
    const file = path.posix.join('src', inside.split(path.sep).join('/'));
    const text = readFileSync(path.join(ROOT, file), 'utf8');
    const source = readSource(text);
    const folder = file.split('/')[1] ?? '';
    return { file, folder, text: source.uncommented, bare: source.bare, imports: importsOf(source) };
  });

function isRelative(name: string): boolean {
  return name.startsWith('.');
}

function resolve({ file }: Source, name: string): string {
  return path.posix.join(path.posix.dirname(file), name);
}

function packageOf(name: string): string {
  return name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');
}

function folderImports(source: Source): string[] {
  return source.imports
    .filter(isRelative)
    .map((name) => resolve(source, name).split('/')[1] ?? '')
    .filter((folder) => folder !== source.folder);
}

function packageImports(source: Source): string[] {
  return source.imports.filter((name) => !isRelative(name) && !name.startsWith('node:')).map(packageOf);
}

/** Whatever `find` says of a source, with the file before it. */
function faults(find: (source: Source) => string[]): string[] {
  return sources.flatMap((source) => find(source).map((fault) => `${source.file}: ${fault}`));
}

describe('imports', () => {
  test('every folder keeps to the table', () => {
    const found = faults((source) => {
      if (ASSEMBLERS.includes(source.folder)) return [];
      const allowed = MAY_IMPORT[source.folder] ?? [];
      return folderImports(source)
        .filter((folder) => !allowed.includes(folder))
        .map((folder) => `${source.folder} → ${folder}`)
        .filter((edge) => !(edge in BENT_IMPORTS));
    });
    expect(found).toEqual([]);
  });

  test('every folder has its place in the table', () => {
    const folders = new Set(sources.map(({ folder }) => folder));
    expect([...folders].filter((folder) => !(folder in MAY_IMPORT) && !ASSEMBLERS.includes(folder))).toEqual(
      [],
    );
  });

  test('a rule that is not bent any more is not listed as bent', () => {
    const edges = new Set(
      sources.flatMap((source) => [
        ...folderImports(source).map((to) => `${source.folder} → ${to}`),
        ...packageImports(source).map((to) => `${source.folder} → ${to}`),
      ]),
    );
    expect(Object.keys({ ...BENT_IMPORTS, ...BENT_PACKAGES }).filter((bent) => !edges.has(bent))).toEqual([]);
  });

  test('the core imports nothing from outside, not even Node', () => {
    expect(
      faults((source) =>
        source.folder === 'core' ? source.imports.filter((name) => !isRelative(name)) : [],
      ),
    ).toEqual([]);
  });

  test('every package is known only where it belongs: SQL in db, BullMQ in queue, vendors in llm', () => {
    const found = faults((source) =>
      packageImports(source)
        .filter((name) => !(PACKAGES[name] ?? []).includes(source.folder))
        .map((name) => `${source.folder} → ${name}`)
        .filter((edge) => !(edge in BENT_PACKAGES)),
    );
    expect(found).toEqual([]);
  });

  test('every package that is imported is one of our own dependencies', () => {
    const manifest: unknown = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
    expect(manifest).toHaveProperty('dependencies');
    const declared = Object.keys((manifest as { dependencies: object }).dependencies);
    expect(faults((source) => packageImports(source).filter((name) => !declared.includes(name)))).toEqual([]);
  });

  test('no cycle, not even of types', () => {
    expect(findCycle()).toBeNull();
  });
});

/** A cycle of files in the order they import each other, or null. */
function findCycle(): string | null {
  const edges = new Map(
    sources.map((source) => [
      source.file,
      source.imports.filter(isRelative).map((name) => resolve(source, name)),
    ]),
  );
  const done = new Set<string>();
  const visit = (file: string, trail: string[]): string | null => {
    if (trail.includes(file)) return [...trail.slice(trail.indexOf(file)), file].join(' → ');
    if (done.has(file)) return null;
    for (const next of edges.get(file) ?? []) {
      const cycle = visit(next, [...trail, file]);
      if (cycle !== null) return cycle;
    }
    done.add(file);
    return null;
  };
  for (const { file } of sources) {
    const cycle = visit(file, []);
    if (cycle !== null) return cycle;
  }
  return null;
}

describe('places', () => {
  test('SQL is written in db alone', () => {
    const statement = /sql`|['"`]\s*(?:select\s.+\sfrom|insert\s+into|update\s+\w+\s+set|delete\s+from)\s/i;
    expect(
      faults(({ folder, text }) => (folder === 'db' || !statement.test(text) ? [] : ['a statement of SQL'])),
    ).toEqual([]);
  });

  test('the environment is read in few places', () => {
    expect(
      faults(({ folder, bare }) =>
        READS_ENV.includes(folder) || !/\bprocess\s*\.\s*env\b/.test(bare) ? [] : ['process.env'],
      ),
    ).toEqual([]);
  });

  test('nothing is said on the console', () => {
    expect(faults(({ bare }) => (/\bconsole\s*\./.test(bare) ? ['console'] : []))).toEqual([]);
  });

  test('the core reads no clock and throws no dice', () => {
    const impure =
      /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bperformance\b|\bcrypto\b|\bset(?:Timeout|Interval|Immediate)\b/;
    expect(
      faults(({ folder, bare }) => (folder === 'core' ? (impure.exec(bare) ?? []).slice(0, 1) : [])),
    ).toEqual([]);
  });

  test('inside a transaction every statement is the transaction’s', () => {
    expect(
      faults(({ bare }) => transactionBodies(bare).flatMap((body) => /\bdatabase\b|\bdb\b/.exec(body) ?? [])),
    ).toEqual([]);
  });

  test('a file of more than 300 lines has its reason', () => {
    const long = sources.filter(({ text }) => text.split('\n').length > 301).map(({ file }) => file);
    expect(long).toEqual(Object.keys(LONG_FILES).sort());
  });
});

/** What runs inside a transaction: functions that are given `tx`, as parameter of an arrow or a declaration. */
function transactionBodies(bare: string): string[] {
  const heads = [
    ...bare.matchAll(/\(tx\b[^)]*\)[^=(){}]*(?:\([^)]*\)[^=(){}]*)?=>\s*/g),
    ...bare.matchAll(/\(\s*tx:\s*Executor\b[^{]*?\)\s*:[^{]*\{/g),
  ];
  return heads.map((head) => {
    const start = head.index + head[0].length;
    const opening = head[0].endsWith('{') ? start - 1 : start;
    return '([{'.includes(bare.charAt(opening))
      ? bracketed(bare, opening)
      : bare.slice(opening, endOfExpression(bare, opening));
  });
}

function endOfExpression(bare: string, start: number): number {
  let at = start;
  while (at < bare.length && !',;)'.includes(bare.charAt(at))) {
    at += '([{'.includes(bare.charAt(at)) ? bracketed(bare, at).length : 1;
  }
  return at;
}

describe('the reader of sources', () => {
  test('tells code from what only looks like it', () => {
    const source = [
      "import a from './a.ts'; // import b from './b.ts'",
      "/* import c from './c.ts' */ const s = \"import('./d.ts')\";",
      "const t = `from './e.ts' ${await import('./f.ts')} from './g.ts'`;",
      "const r = /from '.\\/h.ts'/; export type { I } from './i.ts';",
    ].join('\n');
    expect(importsOf(readSource(source))).toEqual(['./a.ts', './f.ts', './i.ts']);
  });

  test('sees the pool used inside a transaction', () => {
    const wrong = readSource('await database.transaction(async (tx) => { await claim(database.db); });').bare;
    const right = readSource('await database.transaction(async (tx) => { await claim(tx); });').bare;
    const named = readSource(
      'async function f(tx: Executor): Promise<void> {\n  await db.execute(x);\n}',
    ).bare;
    expect(transactionBodies(wrong).some((body) => /\bdb\b/.test(body))).toBe(true);
    expect(transactionBodies(right).some((body) => /\bdb\b/.test(body))).toBe(false);
    expect(transactionBodies(named).some((body) => /\bdb\b/.test(body))).toBe(true);
  });
});
