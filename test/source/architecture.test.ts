// Enforces the import table of the design, and the other rules about the place of code. Each exception is listed here
// with its reason; an exception that no file needs any more is removed.
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { bracketed, importsOf, readSource } from './source-text.ts';

const ROOT = path.join(import.meta.dirname, '../..');

/** Which folder may import which; itself always. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  db: ['core', 'package-files.ts'],
  queue: ['core', 'per-turn.ts'],
  bus: ['core'],
  llm: ['core'],
  schema: ['core'],
  tools: ['core', 'schema', 'package-files.ts', 'node-http.ts'],
  events: ['core', 'db', 'bus'],
  agent: ['core'],
  commands: ['core', 'db', 'queue', 'bus'],
  webhooks: ['core', 'tools'],
  telemetry: ['core'],
  workers: [
    'core',
    'db',
    'queue',
    'bus',
    'llm',
    'tools',
    'webhooks',
    'events',
    'agent',
    'commands',
    'package-files.ts',
  ],
  api: ['core', 'schema', 'db', 'commands', 'webhooks', 'events', 'node-http.ts'],
  client: [],
  dev: [],
  config: ['core'],
  'package-files.ts': [],
  'per-turn.ts': [],
  'node-http.ts': [],
};

/** Those that assemble the platform may import anything: the only rule is that no file imports them. */
const ASSEMBLERS = ['platform', 'cli', 'embed', 'index.ts', 'testing'];

const BENT_IMPORTS: Readonly<Record<string, string>> = {
  'api → config': 'the application is made from the part of the configuration that is its own',
};

/** Packages by the folders that may import them. A package that is not listed may be imported nowhere. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  'drizzle-orm': ['db'],
  postgres: ['db'],
  bullmq: ['queue'],
  pg: ['queue'],
  ioredis: ['queue', 'bus'],
  '@anthropic-ai/sdk': ['llm'],
  openai: ['llm'],
  '@modelcontextprotocol/sdk': ['tools'],
  ajv: ['schema', 'tools', 'api'],
  'ajv-formats': ['schema', 'tools'],
  fastify: ['api', 'embed'],
  '@fastify/accept-negotiator': ['api'],
  '@fastify/cookie': ['api'],
  '@fastify/cors': ['api'],
  '@fastify/static': ['api'],
  '@fastify/swagger': ['api'],
  '@fastify/type-provider-typebox': ['api'],
  typebox: ['schema', 'tools', 'api'],
  pino: ['api', 'workers', 'platform', 'embed'],
  croner: ['commands'],
  'p-map': ['commands'],
  'p-timeout': ['queue', 'db', 'telemetry', 'tools', 'workers', 'embed'],
  'prom-client': ['api', 'telemetry', 'workers'],
  'rate-limiter-flexible': ['api', 'bus'],
  '@opentelemetry/api': ['telemetry'],
  '@opentelemetry/context-async-hooks': ['telemetry'],
  '@opentelemetry/core': ['telemetry'],
  '@opentelemetry/exporter-metrics-otlp-proto': ['telemetry'],
  '@opentelemetry/exporter-trace-otlp-proto': ['telemetry'],
  '@opentelemetry/resources': ['telemetry'],
  '@opentelemetry/sdk-metrics': ['telemetry'],
  '@opentelemetry/sdk-trace': ['telemetry'],
  jose: ['api'],
  'openid-client': ['api'],
  standardwebhooks: ['webhooks'],
  undici: ['llm'],
  uuid: ['platform', 'llm'],
  commander: ['cli'],
  'string-width': ['cli'],
  'eventsource-parser': ['llm', 'client'],
};

const BENT_PACKAGES: Readonly<Record<string, string>> = {};

/**
 * The imports of the command line: outside of itself only the named files, of its own all but those that assemble the
 * platform.
 */
const OF_THE_COMMAND_LINE: Readonly<Record<string, readonly string[]>> = {
  commands: ['client'],
  asking: ['client'],
  following: ['client'],
  chat: ['client'],
  completion: [],
  find: ['client'],
  profiles: [],
  terminal: [],
  init: ['package-files.ts'],
  outbox: ['config', 'core', 'db', 'tools'],
  dev: ['api', 'config', 'core', 'db', 'dev', 'package-files.ts', 'platform', 'telemetry', 'tools'],
  doctor: ['client', 'config', 'db', 'package-files.ts', 'platform', 'queue', 'tools', 'workers'],
};
/** Loaded for one command alone, and by no other. */
const LAZY: Readonly<Record<string, readonly string[]>> = {
  'src/cli/outbox': ['src/cli/serve.ts'],
  'src/cli/doctor': ['src/cli/commands/installation/doctor.ts'],
  'src/cli/dev': ['src/cli/serve.ts'],
  'src/platform/start.ts': ['src/cli/serve.ts'],
  'src/platform/production.ts': ['src/cli/serve.ts'],
  'src/cli/program.ts': ['src/cli/main.ts'],
  'src/embed/open.ts': ['src/embed/nightshift.ts'],
};

/** Where the environment is read. */
const READS_ENV = ['config', 'platform', 'cli', 'dev'];

/** Files of one folder. */
const MOST_FILES = 16;

/** Files beyond 300 lines, each with its reason. */
const LONG_FILES: Readonly<Record<string, string>> = {
  'src/client/schema.ts': 'made from the OpenAPI document',
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

/** The sources and packages that are loaded with a file: by its imports, without those of types, and by theirs. */
function loadedWith(entry: string): string[] {
  const found = new Set([entry]);
  for (const file of found) {
    const source = sources.find((one) => one.file === file);
    if (source === undefined) continue;
    const loads = source.text.matchAll(/^(?:(?:import|export)(?!\s+type\b)[^;]*?from '([^']+)'|import '([^']+)');/gms);
    for (const [, from, alone = ''] of loads) {
      const name = from ?? alone;
      found.add(isRelative(name) ? resolve(source, name) : packageOf(name));
    }
  }
  return [...found];
}

/** The findings of `find` in each source, with the file before each. */
function faults(find: (source: Source) => string[]): string[] {
  return sources.flatMap((source) => find(source).map((fault) => `${source.file}: ${fault}`));
}

describe('imports', () => {
  test('every folder follows the table', () => {
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
    expect([...folders].filter((folder) => !(folder in MAY_IMPORT) && !ASSEMBLERS.includes(folder))).toEqual([]);
  });

  test('an exception that no file needs is not listed', () => {
    const edges = new Set(
      sources.flatMap((source) => [
        ...folderImports(source).map((to) => `${source.folder} → ${to}`),
        ...packageImports(source).map((to) => `${source.folder} → ${to}`),
      ]),
    );
    expect(Object.keys({ ...BENT_IMPORTS, ...BENT_PACKAGES }).filter((bent) => !edges.has(bent))).toEqual([]);
  });

  test('commands that talk to the API load nothing of the platform', () => {
    const found = faults((source) => {
      const [, cli, part = ''] = source.file.split('/');
      const allowed = OF_THE_COMMAND_LINE[part];
      if (cli !== 'cli' || allowed === undefined) return [];
      return folderImports(source).filter((folder) => !allowed.includes(folder));
    });
    expect(found).toEqual([]);
    const parts = sources.flatMap(({ file }) => /^src\/cli\/([\w-]+)\//.exec(file)?.[1] ?? []);
    expect([...new Set(parts)].sort()).toEqual(Object.keys(OF_THE_COMMAND_LINE).sort());
  });

  test('modules of a single command are loaded by it alone, when it runs', () => {
    const found = faults((source) =>
      source.imports
        .filter(isRelative)
        .map((name) => resolve(source, name))
        .flatMap((target) => {
          const lazy = Object.keys(LAZY).find((one) => target === one || target.startsWith(`${one}/`));
          const isInside = lazy !== undefined && source.file.startsWith(`${lazy}/`);
          if (lazy === undefined || isInside) return [];
          const isLate = new RegExp(`import\\([^)]*${path.basename(target)}`).test(source.text);
          const isType = new RegExp(`import type [^;]*${path.basename(target)}`).test(source.text);
          return isType || (isLate && LAZY[lazy]?.includes(source.file) === true) ? [] : [target];
        }),
    );
    expect(found).toEqual([]);
  });

  test('a process loads only its part, and the SDKs of providers and MCP when they are used', () => {
    const late = ['openai', '@anthropic-ai/sdk', 'undici', '@modelcontextprotocol/sdk', '@opentelemetry/api'];
    // The exchange has a class of `Response`, which loads the HTTP client of Node.js.
    const parts = [
      'fastify',
      'prom-client',
      'src/llm/wire/http/exchange.ts',
      'src/api/server/server.ts',
      'src/workers/process/process.ts',
    ];
    const found = (entry: string, isWrong: (name: string) => boolean): string[] =>
      loadedWith(entry).filter((name) => late.includes(name) || isWrong(name));
    expect(loadedWith('src/platform/production.ts').length).toBeGreaterThan(200);
    expect(found('src/platform/production.ts', (name) => parts.includes(name))).toEqual([]);
    expect(found('src/api/server/server.ts', (name) => /^src\/(?:workers|agent|llm)\//.test(name))).toEqual([]);
    expect(found('src/workers/process/process.ts', (name) => name.startsWith('src/api/'))).toEqual([]);
  });

  test('the core imports nothing from outside, not even Node', () => {
    expect(
      faults((source) => (source.folder === 'core' ? source.imports.filter((name) => !isRelative(name)) : [])),
    ).toEqual([]);
  });

  test('the client imports only itself: it runs in browsers, without the server', () => {
    expect(
      faults(({ folder, file, imports }) => {
        const own = file.startsWith('src/client/calls/') ? /^\.\.?\/[\w-]+\.ts$/ : /^\.\/(?:calls\/)?[\w-]+\.ts$/;
        return folder === 'client' ? imports.filter((name) => name !== 'eventsource-parser' && !own.test(name)) : [];
      }),
    ).toEqual([]);
    expect(
      faults(({ folder, bare }) => (folder === 'client' ? (/\b(?:process|Buffer)\b/.exec(bare) ?? []) : [])),
    ).toEqual([]);
  });

  test('every package is imported only in its folder: SQL in db, BullMQ in queue, vendors in llm', () => {
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
    const namesOf = (member: string): string[] => {
      expect(manifest).toHaveProperty(member);
      return Object.keys((manifest as Record<string, object>)[member] ?? {});
    };
    const installed = namesOf('dependencies');
    const bundled = namesOf('devDependencies');
    const declared = [...installed, ...bundled];
    expect(faults((source) => packageImports(source).filter((name) => !declared.includes(name)))).toEqual([]);
    // Installed with the package: what is not in its bundle, and whose types are in its declarations.
    expect(installed.sort()).toEqual(['@anthropic-ai/sdk', '@opentelemetry/api', 'openai', 'typebox']);
  });

  test('no cycle, not even of types', () => {
    expect(findCycle()).toBeNull();
  });
});

/** A cycle of files in the order of their imports, or null. */
function findCycle(): string | null {
  const edges = new Map(
    sources.map((source) => [source.file, source.imports.filter(isRelative).map((name) => resolve(source, name))]),
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

/** The text before the last parenthesis that is still open at its end; all of it, if none is. */
function beforeParenthesis(text: string): string {
  let open = 0;
  for (let at = text.length - 1; at >= 0; at -= 1) {
    if (text[at] === ')') open += 1;
    if (text[at] === '(') open -= 1;
    if (open < 0) return text.slice(Math.max(0, at - 80), at);
  }
  return text.slice(-80);
}

/** Tags of statements. */
const tags = sources.flatMap(({ text }) => [...text.matchAll(/sql`\/\* (\S+) \*\//g)].map(([, tag = '']) => tag));

describe('places', () => {
  test('SQL is written in db alone', () => {
    const statement = /sql`|['"`]\s*(?:select\s.+\sfrom|insert\s+into|update\s+\w+\s+set|delete\s+from)\s/i;
    expect(
      faults(({ folder, text }) => (folder === 'db' || !statement.test(text) ? [] : ['a statement of SQL'])),
    ).toEqual([]);
  });

  test('a handwritten statement begins with a tag of its own, or with select', () => {
    const written = /\.execute(?:<(?:[^<>]|<[^<>]*>)*>)?\(\s*sql`\s*(.*)/g;
    const parts = /^(?:\/\* \w+\.\w+ \*\/|select\b|\$\{)/;
    expect(
      faults(({ text }) =>
        [...text.matchAll(written)].map(([, begins = '']) => begins).filter((begins) => !parts.test(begins)),
      ),
    ).toEqual([]);
    expect(tags.length).toBeGreaterThan(90);
    expect(tags.filter((tag, at) => tags.indexOf(tag) !== at)).toEqual([]);
  });

  // PostgreSQL may run a subquery of `in` or `from` again for each row, and then it locks other rows each time.
  test('a limited number of rows is locked in a materialized part of the statement', () => {
    let seen = 0;
    const within = /limit \S+\s+for (?:no key )?update/g;
    const found = faults(({ text }) =>
      [...text.matchAll(within)]
        .map(({ index }) => beforeParenthesis(text.slice(0, index)))
        .filter((before) => {
          seen += 1;
          return !before.endsWith(' as materialized ');
        }),
    );
    expect(found).toEqual([]);
    expect(seen).toBeGreaterThan(3);
  });

  test('a tag that a test or the benchmark uses is that of a statement', () => {
    const nouns = new Set(tags.map((tag) => tag.replace(/\..*/, '')));
    const unknown = ['test', 'bench'].flatMap((folder) =>
      readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts'))
        .flatMap((name) => {
          const text = readFileSync(path.join(ROOT, folder, name), 'utf8');
          if (!text.includes('tagOf')) return [];
          return [...text.matchAll(/'([a-z_]+)\.([a-z_]+)'/g)].flatMap(([, noun = '', verb = '']) =>
            nouns.has(noun) && !tags.includes(`${noun}.${verb}`) ? [`${name}: ${noun}.${verb}`] : [],
          );
        }),
    );
    expect(unknown).toEqual([]);
  });

  test('the environment is read in few places', () => {
    expect(
      faults(({ folder, bare }) =>
        READS_ENV.includes(folder) || !/\bprocess\s*\.\s*env\b/.test(bare) ? [] : ['process.env'],
      ),
    ).toEqual([]);
  });

  test('no file imports node:http, whose import costs 80 ms (src/node-http.ts)', () => {
    expect(
      faults(({ file, text }) =>
        file === 'src/node-http.ts' ? [] : (/^import (?!type\b)[^;]*'(?:node:)?https?';/m.exec(text) ?? []).slice(0, 1),
      ),
    ).toEqual([]);
  });

  test('no code prints to the console', () => {
    expect(faults(({ bare }) => (/\bconsole\s*\./.test(bare) ? ['console'] : []))).toEqual([]);
  });

  test('the core reads no clock and uses no random numbers', () => {
    const impure =
      /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bperformance\b|\bcrypto\b|\bset(?:Timeout|Interval|Immediate)\b/;
    expect(faults(({ folder, bare }) => (folder === 'core' ? (impure.exec(bare) ?? []).slice(0, 1) : []))).toEqual([]);
  });

  test('inside a transaction every statement is the transaction’s', () => {
    expect(
      faults(({ bare }) => transactionBodies(bare).flatMap((body) => /\bdatabase\b|\bdb\b/.exec(body) ?? [])),
    ).toEqual([]);
  });

  test('only perform.ts opens transactions for commands, and dispatches what follows their commit', () => {
    const isDone = /\.transaction\(|(?<!function )\bdispatch\(/;
    expect(
      faults(({ file, folder, bare }) =>
        folder !== 'commands' || file === 'src/commands/perform.ts' ? [] : (isDone.exec(bare) ?? []),
      ),
    ).toEqual([]);
  });

  test('no folder of src or web/src holds more than about fifteen files of code', () => {
    const counts = new Map<string, number>();
    for (const { file } of [...sources, ...consoleSources]) {
      const folder = path.posix.dirname(file);
      counts.set(folder, (counts.get(folder) ?? 0) + 1);
    }
    expect([...counts].filter(([, count]) => count > MOST_FILES)).toEqual([]);
  });

  test('a file of more than 300 lines has its reason', () => {
    const long = sources.filter(({ text }) => text.split('\n').length > 301).map(({ file }) => file);
    expect(long).toEqual(Object.keys(LONG_FILES).sort());
  });
});

/** Code that runs inside a transaction: functions with the parameter `tx`, arrows and declarations. */
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

/** The console by its own folders; a page is a folder of `pages` and imports no other. */
const CONSOLE_MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'main.tsx': ['app', 'ui'],
  app: ['data', 'pages', 'ui', 'words.ts'],
  pages: [
    'answers',
    'api-keys',
    'call-log',
    'config-editor',
    'data',
    'diff',
    'message-content',
    'ui',
    'usage',
    'words.ts',
  ],
  'config-editor': ['data', 'ui', 'words.ts'],
  answers: ['data', 'ui', 'words.ts'],
  'call-log': ['data', 'ui', 'words.ts'],
  'api-keys': ['data', 'ui', 'words.ts'],
  'message-content': ['words.ts'],
  usage: ['ui', 'words.ts'],
  diff: ['ui', 'words.ts'],
  data: ['words.ts'],
  ui: ['words.ts'],
  'words.ts': ['words'],
  words: [],
};

/** The parts of the client that all but `data` may import, beside types: none that sends a request. */
const CLIENT_VALUES = ['isFinished', 'NightshiftError'];

const CONSOLE_PACKAGES: Readonly<Record<string, readonly string[]>> = {
  'main.tsx': ['react', 'react-dom'],
  app: ['@tanstack/react-query', '@tanstack/react-router', 'cmdk', 'lucide-react', 'nightshift', 'react'],
  pages: [
    '@tanstack/react-query',
    '@tanstack/react-router',
    'lucide-react',
    'nightshift',
    'radix-ui',
    'react',
    'recharts',
    'virtua',
  ],
  'config-editor': ['lucide-react', 'nightshift', 'react'],
  answers: ['@tanstack/react-query', 'lucide-react', 'nightshift', 'react'],
  'api-keys': ['@tanstack/react-query', 'nightshift', 'react'],
  'call-log': ['@tanstack/react-query', 'nightshift', 'react'],
  'message-content': ['lucide-react', 'nightshift', 'react'],
  usage: ['lucide-react', 'nightshift'],
  diff: ['diff', 'react'],
  data: ['@tanstack/react-query', 'nightshift', 'react'],
  ui: [
    'lucide-react',
    'radix-ui',
    'react',
    'react-dom',
    'react-markdown',
    'recharts',
    'rehype-highlight',
    'remark-gfm',
    'sonner',
  ],
  // Types alone.
  words: ['nightshift'],
};

type Import = { names: string; from: string };
type ConsoleSource = { file: string; folder: string; page: string; text: string; imports: Import[] };

/** Visible text is between tags, where an apostrophe is text: imports are found by their formatting. */
const consoleSources: ConsoleSource[] = readdirSync(path.join(ROOT, 'web/src'), {
  recursive: true,
  encoding: 'utf8',
})
  .filter((file) => /\.tsx?$/.test(file))
  .sort()
  .map((inside) => {
    const [folder = '', page = ''] = inside.split(path.sep);
    const text = readFileSync(path.join(ROOT, 'web/src', inside), 'utf8');
    const named = text.matchAll(/^(?:import|export(?=[ \w]*[*{]))\s+(?:([^;'"]*?)\s+from\s+)?'([^']+)';/gm);
    const lazy = text.matchAll(/\bimport\(()'([^']+)'\)/g);
    const imports = [...named, ...lazy].map(([, names = '', from = '']) => ({ names, from }));
    return {
      file: path.posix.join('web/src', ...inside.split(path.sep)),
      folder,
      page: folder === 'pages' ? page : '',
      text,
      imports,
    };
  });

function consoleFaults(find: (source: ConsoleSource, one: Import) => boolean): string[] {
  return consoleSources.flatMap((source) =>
    source.imports.filter((one) => find(source, one)).map(({ names, from }) => `${source.file}: ${names} ${from}`),
  );
}

/**
 * `jsonb` sorts the members of objects, and a prompt whose bytes changed is paid for twice: content for a provider has
 * the type `json`, and no function of `jsonb` handles it on its way. These lines only compare it, or read other members
 * beside it.
 */
const SEES_CONTENT: readonly string[] = [
  'coalesce(r.definition::jsonb =',
  "jsonb_agg(jsonb_build_object('id', b.block ->> 'id'",
];

test('content for a provider keeps its text: no function of jsonb handles it', () => {
  const lines = readdirSync(path.join(ROOT, 'src/db'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => readFileSync(path.join(ROOT, 'src/db', file), 'utf8').split('\n'));
  const found = lines.filter(
    (line) =>
      /\bjsonb/.test(line) && /\b(?:content|reply|input|definition|config|approval|parameters|blocks?)\b/.test(line),
  );
  expect(found.filter((line) => !SEES_CONTENT.some((known) => line.includes(known)))).toEqual([]);
  expect(SEES_CONTENT.filter((known) => !found.some((line) => line.includes(known)))).toEqual([]);
  const columns = sources
    .filter(({ file }) => file.startsWith('src/db/schema/'))
    .flatMap(({ text }) => [...text.matchAll(/ json<[^(]*\('(\w+)'\)/g)].map(([, name = '']) => name));
  expect([...new Set(columns)].sort()).toEqual([
    'approval',
    'body',
    'call',
    'config',
    'content',
    'definition',
    'events',
    'fields',
    'output_schema',
    'reply',
    'result',
    'tools',
    'worker',
  ]);
});

/** It sets how its requests are sent. */
const THE_CLIENT = 'web/src/data/client.ts';
/** `fetch` does not report how much of a body was sent: a large import is sent otherwise. */
const TELLS_OF_UPLOADS = 'web/src/data/query/import-file.ts';

describe('the console', () => {
  test('pages are made of ui and data and do not import each other, data imports the client, ui neither', () => {
    const found = consoleFaults((source, { from }) => {
      if (!isRelative(from)) return false;
      const target = path.posix.join(path.posix.dirname(source.file), from);
      const [web, src, folder = '', page = ''] = target.split('/');
      if (web !== 'web' || src !== 'src') return true;
      if (folder === source.folder) return folder === 'pages' && page !== source.page;
      return CONSOLE_MAY_IMPORT[source.folder]?.includes(folder) !== true;
    });
    expect(found).toEqual([]);
  });

  test('only data sends requests to the API; the others import only parts of its client that send none', () => {
    const found = consoleFaults(({ folder }, { names, from }) => {
      if (!from.startsWith('nightshift')) return false;
      if (from !== 'nightshift/client') return true;
      if (folder === 'data' || names.startsWith('type ')) return false;
      const imported = names.replaceAll(/[{}]/g, '').split(',');
      const values = imported.map((name) => name.trim()).filter((name) => name !== '' && !name.startsWith('type '));
      return values.some((name) => !CLIENT_VALUES.includes(name));
    });
    expect(found).toEqual([]);
    const asks = /\b(?:fetch|XMLHttpRequest|EventSource|WebSocket)\s*\(/;
    expect(consoleSources.filter(({ text }) => asks.test(text)).map(({ file }) => file)).toEqual([
      THE_CLIENT,
      TELLS_OF_UPLOADS,
    ]);
  });

  test('every package is imported only in its folder', () => {
    const found = consoleFaults(
      ({ folder }, { from }) => !isRelative(from) && CONSOLE_PACKAGES[folder]?.includes(packageOf(from)) !== true,
    );
    expect(found).toEqual([]);
  });

  test('text is never put on a page as markup', () => {
    expect(
      consoleSources
        .filter(({ text }) => /dangerouslySetInnerHTML|\.(?:inner|outer)HTML\b|insertAdjacentHTML/.test(text))
        .map(({ file }) => file),
    ).toEqual([]);
  });

  test('no file has more than 300 lines', () => {
    const long = consoleSources.filter(({ text }) => text.split('\n').length > 301).map(({ file }) => file);
    expect(long).toEqual([]);
  });
});

describe('the reader of sources', () => {
  test('separates code from text that looks like it', () => {
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
    const named = readSource('async function f(tx: Executor): Promise<void> {\n  await db.execute(x);\n}').bare;
    expect(transactionBodies(wrong).some((body) => /\bdb\b/.test(body))).toBe(true);
    expect(transactionBodies(right).some((body) => /\bdb\b/.test(body))).toBe(false);
    expect(transactionBodies(named).some((body) => /\bdb\b/.test(body))).toBe(true);
  });
});
