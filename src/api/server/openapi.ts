/**
 * The OpenAPI 3.1 document, generated from the schemas of the routes. This file adds by rule what the generator cannot
 * know from a schema.
 */
import swagger from '@fastify/swagger';
import type { FastifyContextConfig, FastifySchema } from 'fastify';
import { http } from '../../node-http.ts';
import { isForOperatorOnly, scopeOf } from '../access/scopes.ts';
import type { App } from './ports.ts';
import { problemsOf } from '../schemas/problem.ts';
import { PLAIN_COOKIE } from '../access/session.ts';

/** The parts of the document that this file reads. */
type Schema = {
  $ref?: string;
  /** A constant is a list with one item. */
  enum?: unknown[];
  default?: unknown;
  required?: string[];
  properties?: Record<string, Schema>;
  oneOf?: Schema[];
  discriminator?: { propertyName: string; mapping?: Record<string, string> };
};
type Operation = {
  parameters?: { required?: boolean; schema?: Schema }[];
  requestBody?: { required?: boolean; content: Record<string, { schema?: Schema }> };
  responses?: Record<string, { description?: string }>;
};
type Document = {
  components?: { schemas?: Record<string, Schema> };
  paths?: Record<string, Record<string, Operation>>;
};
type Schemas = Record<string, Schema>;
type Access = FastifyContextConfig['access'];

/** Security schemes: API key as bearer token, or the session cookie of a browser. */
const SCHEMES = {
  key: { type: 'http', scheme: 'bearer' },
  session: { type: 'apiKey', in: 'cookie', name: PLAIN_COOKIE },
} as const;

/**
 * The document is the same with and without keys: without them, none is needed. `path`: under which another service
 * serves the application.
 */
export async function documentRoutes(app: App, path = ''): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Nightshift',
        description: 'Runs LLM agents in the background. Errors are application/problem+json.',
        version: '0.1.0',
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: path === '' ? '/' : path }],
      components: { securitySchemes: SCHEMES },
      security: [{ key: [] }, { session: [] }],
      tags: [
        { name: 'workers', description: 'Named agents: identity and settings.' },
        {
          name: 'contexts',
          description: 'Conversations of workers: history, queued inputs, branches, events.',
        },
        { name: 'jobs', description: 'Background runs; each answers one input.' },
        { name: 'roles', description: 'Named definitions that workers are made from.' },
        { name: 'schedules', description: 'Inputs that are posted at certain times.' },
        { name: 'keys', description: 'API keys of a tenant, and tokens of its users.' },
        { name: 'webhooks', description: 'Addresses that receive events of jobs, and what was sent to them.' },
        { name: 'system', description: 'Health, metrics, statistics, sessions and the installation.' },
      ],
    },
    refResolver: {
      buildLocalReference: (schema, _baseUri, _fragment, i) =>
        typeof schema['$id'] === 'string' ? schema['$id'] : `schema-${i}`,
    },
    transform: ({ schema, url, route }) => ({
      schema: withScope(withImplied(schema, route), route.config?.access),
      url,
    }),
    transformObject: (made) => ('openapiObject' in made ? exact(made.openapiObject as Document) : made.swaggerObject),
  });
}

/** What of a route its error statuses follow from, beside its schema. */
type Declared = { method: string | string[]; config?: { access?: Access } };

/**
 * The error statuses that follow from the access rule of a route, its method and its parameters. A body is read before
 * it is known that the route takes none; 408 and 431 are answered before there is a request.
 */
function impliedBy(schema: FastifySchema, { method, config }: Declared): number[] {
  const headers = JSON.stringify(schema.headers ?? {});
  const access = config?.access;
  const readsBody = ![method].flat().includes('GET');
  return [
    400,
    ...(access === 'open' || access === 'keyless' ? [] : [401]),
    ...(access === 'open' ? [] : [403]),
    ...(schema.params === undefined ? [] : [404]),
    408,
    ...(headers.includes('idempotency-key') ? [409] : []),
    ...(headers.includes('if-match') ? [412] : []),
    ...(readsBody ? [413, 415] : []),
    ...(readsBody || schema.querystring !== undefined || schema.headers !== undefined ? [422] : []),
    ...(isOfTenants(access) ? [429] : []),
    431,
    500,
    503,
  ];
}

/** Whether tenants have access: their requests are limited. */
function isOfTenants(access: Access): boolean {
  return access !== 'open' && access !== 'keyless' && !isForOperatorOnly(access);
}

function withImplied(schema: FastifySchema, declared: Declared): FastifySchema {
  if (schema.response === undefined) return schema;
  const named = problemsOf(impliedBy(schema, declared));
  return { ...schema, response: { ...named, ...schema.response } };
}

/** Names the scope that the key or the session of a caller must have. */
function withScope(schema: FastifySchema, access: Access): FastifySchema {
  const scope = scopeOf(access);
  return scope !== null ? { ...schema, security: [{ key: [scope] }, { session: [scope] }] } : schema;
}

function exact(document: Document): Document {
  const schemas = document.components?.schemas ?? {};
  for (const schema of Object.values(schemas)) mapDiscriminator(schema, schemas);
  for (const operation of Object.values(document.paths ?? {}).flatMap(Object.values<Operation>)) {
    freeDefaults(operation);
    freeBody(operation, schemas);
    describeAnswers(operation);
  }
  return document;
}

/** Parameters with a default are optional. */
function freeDefaults({ parameters = [] }: Operation): void {
  for (const parameter of parameters) {
    if (parameter.schema?.default !== undefined) parameter.required = false;
  }
}

/** A body without required fields is optional. */
function freeBody({ requestBody }: Operation, schemas: Schemas): void {
  if (requestBody === undefined) return;
  const body = requestBody.content['application/json']?.schema;
  requestBody.required = (resolve(body, schemas)?.required?.length ?? 0) > 0;
}

function describeAnswers({ responses = {} }: Operation): void {
  for (const [status, response] of Object.entries(responses)) {
    if (response.description === 'Default Response') response.description = http.STATUS_CODES[status] ?? status;
  }
}

/** Maps values of `type` to components. Without a mapping, generators use the names of the components. */
function mapDiscriminator(schema: Schema, schemas: Schemas): void {
  if (schema.discriminator === undefined) return;
  const mapping: Record<string, string> = {};
  for (const one of schema.oneOf ?? []) {
    const [tag] = resolve(one, schemas)?.properties?.['type']?.enum ?? [];
    if (typeof tag === 'string' && one.$ref !== undefined) mapping[tag] = one.$ref;
  }
  schema.discriminator = { ...schema.discriminator, mapping };
}

function resolve(schema: Schema | undefined, schemas: Schemas): Schema | undefined {
  return schema?.$ref === undefined ? schema : schemas[schema.$ref.replace('#/components/schemas/', '')];
}
