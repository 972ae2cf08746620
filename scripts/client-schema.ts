// Makes src/client/schema.ts from the OpenAPI document: `node scripts/client-schema.ts`. A test compares them.
// Types alone, but for the names of the events, which tell a client what it knows.
import { NO_TELEMETRY } from '../src/core/tracing/telemetry.ts';
import { writeFileSync } from 'node:fs';
import { pino } from 'pino';
import { createApp } from '../src/api/server/app.ts';
import { openCatalog } from '../src/api/server/catalog.ts';
import { localBus } from '../src/bus/local.ts';
import { localRates } from '../src/bus/request-rates.ts';
import { aboutOf } from '../src/platform/about.ts';
import { ids } from '../src/platform/ids.ts';
import { parseEnvironment } from '../src/config/config.ts';
import { openDatabase } from '../src/db/connection/client.ts';
import { openStreamHub } from '../src/events/stream-hub.ts';
import { NO_SERVERS } from '../src/tools/registry/servers.ts';
import { referenceFolder } from '../src/package-files.ts';

export const CLIENT_SCHEMA = new URL('../src/client/schema.ts', import.meta.url);

/** What of a document is looked at here. */
type Schema = {
  $ref?: string;
  type?: string;
  description?: string;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
  required?: string[];
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
};
type Media = { schema: Schema };
type Operation = {
  parameters?: { name: string; in: string; required?: boolean; schema: Schema }[];
  requestBody?: { required?: boolean; content: Record<string, Media> };
  responses: Record<string, { content?: Record<string, Media> }>;
};
export type Document = {
  components: { schemas: Record<string, Schema> };
  paths: Record<string, Record<string, Operation>>;
};

const HEAD = `// Made from the OpenAPI document by \`node scripts/client-schema.ts\`; a test compares them. Not for editing.

/** Any JSON. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
`;

/** The file as it should stand in \`src/client\`. */
export function clientSchema({ components, paths }: Document): string {
  const schemas = Object.fromEntries(Object.entries(components.schemas).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  const uses = usesIn({ components: { schemas }, paths });
  const types = Object.entries(schemas).map(
    ([name, schema]) =>
      `${comment({ description: schema.description ?? useOf(name, uses) }, '')}export type ${name} = ${typeOf(schema, '')};\n`,
  );
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, made]) => operation(`${method.toUpperCase()} ${path}`, made)),
  );
  const events = Object.keys(schemas)
    .filter((name) => name.endsWith('Event'))
    .map((name) => name.slice(0, -'Event'.length));
  const told = events.map((name) => `  ${name}: ${name}Event;\n`);
  const names = events.map((name) => `  '${name}',\n`);
  return [
    HEAD,
    ...types,
    `/** Data by the name of its event. */\nexport type EventData = {\n${told.join('')}};\n`,
    `/** The names of all events. */\nexport const EVENT_NAMES = [\n${names.join('')}] as const satisfies (keyof EventData)[];\n`,
    `/** What each operation takes and answers. */\nexport type Operations = {\n${operations.join('')}};\n`,
  ].join('\n');
}

/** Where a type is used: as an answer or a body of operations, and in other types. */
type Uses = { answers: string[]; bodies: string[]; types: string[] };

function usesIn({ components: { schemas }, paths }: Document): Map<string, Uses> {
  const uses = new Map(
    Object.keys(schemas).map((name): [string, Uses] => [name, { answers: [], bodies: [], types: [] }]),
  );
  for (const [path, methods] of Object.entries(paths))
    for (const [method, { requestBody, responses }] of Object.entries(methods)) {
      const name = `\`${method.toUpperCase()} ${path}\``;
      for (const used of refsIn(requestBody ?? {})) uses.get(used)?.bodies.push(name);
      const good = Object.entries(responses).filter(([status]) => status.startsWith('2'));
      for (const used of refsIn(good)) uses.get(used)?.answers.push(name);
    }
  for (const [name, schema] of Object.entries(schemas))
    for (const used of refsIn(schema)) if (used !== name) uses.get(used)?.types.push(`\`${name}\``);
  return uses;
}

/** The types that a part of the document names, each once. */
function refsIn(part: object): Set<string> {
  return new Set([...JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name = '']) => name));
}

/** Says of a type without a description where it is used. */
function useOf(name: string, uses: ReadonlyMap<string, Uses>): string {
  const { answers, bodies, types } = uses.get(name) ?? { answers: [], bodies: [], types: [] };
  if (name.endsWith('Event')) return `The data of the event \`${name.slice(0, -'Event'.length)}\`.`;
  if (bodies.length > 0) return `The body of ${listed(bodies)}.`;
  if (answers.length > 0) return `The answer of ${listed(answers)}.`;
  if (types.length > 0) return `Part of ${listed(types)}.`;
  return 'The answer to a request that failed.';
}

function listed(names: readonly string[]): string {
  const [first = '', second, ...more] = names;
  if (second === undefined) return first;
  return more.length === 0 ? `${first} and ${second}` : `${first}, ${second} and ${more.length} more`;
}

function operation(name: string, { parameters = [], requestBody, responses }: Operation): string {
  const given = (place: string): string => {
    const members = parameters.filter((one) => one.in === place);
    const types = members.map((one) => `${one.name}${one.required === true ? '' : '?'}: ${typeOf(one.schema, '')}`);
    return types.length === 0 ? 'undefined' : `{ ${types.join('; ')} }`;
  };
  const contents = (content: Record<string, Media> = {}): string =>
    Object.values(content)
      .map(({ schema }) => typeOf(schema, '    '))
      .join(' | ') || 'undefined';
  const good = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1];
  const optional = requestBody?.required === true ? '' : ' | undefined';
  const body = requestBody === undefined ? 'undefined' : `${contents(requestBody.content)}${optional}`;
  return `  '${name}': {
    path: ${given('path')};
    query: ${given('query')};
    body: ${body};
    answer: ${contents(good?.content)};
  };\n`;
}

function typeOf(schema: Schema, indent: string): string {
  if (schema.$ref !== undefined) return schema.$ref.replace('#/components/schemas/', '');
  if (schema.enum !== undefined) return schema.enum.map((word) => quote(word)).join(' | ');
  const either = schema.anyOf ?? schema.oneOf;
  if (either !== undefined) return [...new Set(either.map((one) => typeOf(one, indent)))].join(' | ');
  switch (schema.type) {
    case 'array': {
      const of = typeOf(schema.items ?? {}, indent);
      return of.includes(' | ') ? `(${of})[]` : `${of}[]`;
    }
    case 'object':
      return objectOf(schema, indent);
    case 'integer':
    case 'number':
      return 'number';
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type;
    case undefined:
      return 'Json';
    default:
      throw new Error(`the document has a type that this does not know: ${schema.type}`);
  }
}

function objectOf({ properties, required = [], additionalProperties }: Schema, indent: string): string {
  if (properties === undefined) {
    const of = typeof additionalProperties === 'object' ? typeOf(additionalProperties, indent) : 'Json';
    return `{ [key: string]: ${of} }`;
  }
  const inside = `${indent}  `;
  const members = Object.entries(properties).map(([name, schema]) => {
    const key = /^\w+$/.test(name) ? name : quote(name);
    const mark = required.includes(name) ? '' : '?';
    return `${comment(schema, inside)}${inside}${key}${mark}: ${typeOf(schema, inside)};\n`;
  });
  // Said in so many words: whoever writes it may add members. Without a word the list is what a client needs to know.
  const more = additionalProperties === true ? `${inside}[key: string]: Json;\n` : '';
  return `{\n${members.join('')}${more}${indent}}`;
}

function comment({ description }: Pick<Schema, 'description'>, indent: string): string {
  return description === undefined ? '' : `${indent}/** ${description.replaceAll('*/', '*\\/')} */\n`;
}

function quote(word: unknown): string {
  return typeof word === 'string' ? `'${word.replaceAll("'", "\\'")}'` : JSON.stringify(word);
}

const NOTHING = {
  config: parseEnvironment({}),
  limits: {},
  prices: new Map(),
  providers: [],
  builtIn: [],
  own: [],
  servers: NO_SERVERS,
};

/** The document, of an application that is asked nothing. */
export async function apiDocument(): Promise<Document> {
  const database = openDatabase('postgres://127.0.0.1:1/none', { max: 1 });
  const bus = localBus();
  const times = { heartbeatTimeoutMs: 60_000, leaseMs: 120_000 };
  const config = parseEnvironment({});
  const app = await createApp({
    database,
    bus,
    wakeQueue: { notify: () => undefined, isReachable: async () => true, close: async () => undefined },
    ids,
    times,
    stopGraceMs: 5_000,
    telemetry: NO_TELEMETRY,
    boundResult: (content) => content,
    config,
    logger: pino({ level: 'silent' }),
    streamHub: openStreamHub(database, bus),
    catalog: openCatalog(database, times, {
      fileRoles: new Map(),
      checkInput: async () => null,
      parameters: [],
      defaultModel: config.defaultModel,
    }),
    explain: () => null,
    about: { ...aboutOf(NOTHING), mode: 'laptop' },
    webhooks: { whyNot: () => null, secretBox: null },
    requestRates: localRates(),
    consoleFolder: null,
    referenceFolder: referenceFolder(),
    mount: null,
  });
  await app.ready();
  const document: Document = JSON.parse(JSON.stringify(app.swagger()));
  await app.close();
  await database.close();
  await bus.close();
  return document;
}

if (import.meta.main) writeFileSync(CLIENT_SCHEMA, clientSchema(await apiDocument()));
