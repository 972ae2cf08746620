// Requests of every operation of the document. Most are valid; the others break in one place or in several.
import * as fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import { operationsOf, type Described, type NamedOperation, type Parameter } from './document.ts';
import { HOSTILE_NUMBERS } from './hostile.ts';
import { Reference, kindOf, type KnownRows } from './known.ts';
import { damageOf, type Damage } from './damage.ts';
import { cursorChange, hostileText, reference, sometimes, valuesOf, type Manner, type Values } from './values.ts';

/** Who sends a request. */
export type Caller =
  | 'full'
  | 'reader'
  | 'admin'
  | 'token'
  | 'narrow_token'
  | 'session'
  | 'other'
  | 'made'
  | 'none'
  | 'unknown';

/** Before it is known which rows exist. */
export type Planned = {
  operation: NamedOperation;
  caller: Caller;
  /** Instead of that of the operation; null: that one. */
  method: string | null;
  /** Which owner the rows of the path have. */
  focus: number;
  path: Record<string, unknown>;
  query: Record<string, unknown>;
  headers: Record<string, unknown>;
  extraQuery: string | null;
  extraHeader: readonly [string, string] | null;
  body: unknown;
  damage: Damage | null;
};

export type Sent = {
  operation: NamedOperation;
  caller: Caller;
  method: string;
  /** Path and query. */
  url: string;
  headers: Record<string, string>;
  body: string | Buffer | undefined;
};

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const EXTRA_QUERIES = [
  'x=1',
  '%zz',
  '__proto__=1',
  'limit=1&limit=2',
  'cursor=',
  '=',
  '&&',
  'a[b]=1',
  `q=${'x'.repeat(7_000)}`,
];
const EXTRA_HEADERS: readonly (readonly [string, string])[] = [
  ['x-forwarded-for', 'x'.repeat(5_000)],
  ['accept', 'text/html'],
  ['accept-encoding', 'gzip, br;q=0.1, *'],
  ['accept-language', '\u00ff'],
  ['if-none-match', '*'],
  ['range', 'bytes=0-1'],
  ['expect', '100-continue'],
  ['origin', 'https://evil.example'],
  ['x-request-id', "'; drop table jobs"],
  ['cookie', `nightshift_session=${'a'.repeat(100)}; =; ;;`],
  ['x-http-method-override', 'DELETE'],
  // More than a request may have.
  ['x-long', 'x'.repeat(20_000)],
];

/** Valid bodies, where rules that no schema tells refuse most of the others. */
const SAMPLES: Readonly<Record<string, readonly object[]>> = {
  createSchedule: [
    { name: 's', cron: '@daily', content: 'x', target: { worker: { name: 'w' } } },
    { name: 's', every_s: 60, content: 'x', target: { worker: { name: 'w' } }, overlap: 'skip' },
  ],
  patchSchedule: [{ paused: true }, { paused: false }, { every_s: 90 }],
  approveToolCalls: [
    { all: true, decision: 'approve' },
    { all: true, decision: 'approve', remember: true },
  ],
  resolveToolCall: [{ outcome: 'happened', result: 'x' }, { outcome: 'tell' }],
  cancelJobs: [{ status: 'queued' }, { user: 'alice' }],
  retryJobs: [{ filter: { status: 'failed' } }, { filter: { user: 'alice' }, dry_run: true }],
};

/** Sequences of requests. */
export function requestsOf(document: Described, most: number): Arbitrary<readonly Planned[]> {
  const values = valuesOf(document.components.schemas);
  const requests = operationsOf(document).map((operation) =>
    fc.oneof(
      { weight: 3, arbitrary: request(operation, values, 'valid') },
      { weight: 2, arbitrary: request(operation, values, 'hostile') },
    ),
  );
  return fc.array(fc.oneof(...requests), { minLength: 1, maxLength: most, size: 'max' });
}

function request(operation: NamedOperation, values: Values, manner: Manner): Arbitrary<Planned> {
  const { parameters = [], requestBody } = operation;
  const schema = requestBody?.content['application/json']?.schema;
  const never = fc.constant(null);
  const rarely = <T>(made: Arbitrary<T>, times: number) => (manner === 'valid' ? never : sometimes(never, made, times));
  const body = schema === undefined ? rarely(fc.constantFrom({}, [], 'x'), 10) : values(schema, 'body', manner);
  const samples = SAMPLES[operation.operationId] ?? [];
  return fc.record({
    operation: fc.constant(operation),
    caller: callerOf(operation),
    method: rarely(fc.constantFrom(...METHODS), 30),
    focus: fc.nat(5),
    path: parametersIn('path', parameters, values, manner),
    query: parametersIn('query', parameters, values, manner),
    headers: parametersIn('header', parameters, values, manner),
    extraQuery: rarely(fc.constantFrom(...EXTRA_QUERIES), 30),
    extraHeader: rarely(fc.constantFrom(...EXTRA_HEADERS), 20),
    body: (samples.length === 0 ? body : sometimes(body, fc.constantFrom(...samples), 2)).map(
      (one) => one ?? undefined,
    ),
    damage: rarely(damageOf, schema === undefined ? 20 : 8),
  });
}

/** Mostly with the access that the operation needs. */
function callerOf({ security = [] }: NamedOperation): Arbitrary<Caller> {
  const isScoped = security.some(({ key = [] }) => key.length > 0);
  return fc.oneof(
    { withCrossShrink: true },
    { weight: 10, arbitrary: fc.constant<Caller>(isScoped ? 'full' : 'admin') },
    { weight: 4, arbitrary: fc.constantFrom<Caller>('token', 'narrow_token', 'session', 'made') },
    { weight: 2, arbitrary: fc.constantFrom<Caller>('full', 'admin', 'reader', 'other') },
    { weight: 1, arbitrary: fc.constantFrom<Caller>('none', 'unknown') },
  );
}

function parametersIn(
  place: string,
  all: Parameter[],
  values: Values,
  manner: Manner,
): Arbitrary<Record<string, unknown>> {
  const given = all.filter((one) => one.in === place);
  return fc.record(
    Object.fromEntries(
      given.map((one) => {
        const made = parameter(one, values, manner);
        return [
          one.name,
          one.required === true ? made : sometimes(fc.constant(undefined), made, place === 'query' ? 3 : 6),
        ];
      }),
    ),
  );
}

/** A cursor that was changed. */
type ChangedCursor = { cursor: Reference; changes: readonly (readonly [number, unknown])[] };

function parameter({ name, in: place, schema }: Parameter, values: Values, manner: Manner): Arbitrary<unknown> {
  const made = validParameter(name, place, values(schema, name, 'valid'));
  if (manner === 'valid') return made;
  if (name === 'cursor') {
    const changed = fc.record({ cursor: reference('cursor'), changes: cursorChange });
    return fc.oneof({ withCrossShrink: true }, made, changed, hostileText);
  }
  const isNumber = schema.type === 'integer';
  return sometimes(made, isNumber ? fc.constantFrom(...HOSTILE_NUMBERS) : hostileText, 8);
}

function validParameter(name: string, place: string, made: Arbitrary<unknown>): Arbitrary<unknown> {
  if (name === 'cursor') return reference('cursor');
  if (name === 'if-match') return fc.constantFrom('"1"', '"2"', '*');
  if (name === 'idempotency-key') return fc.oneof(fc.constantFrom('one', 'two'), made);
  return place === 'path' && /^(id|name|tool|.*_id)$/.test(name) ? reference(name) : made;
}

/** What is sent, now that it is known which rows exist. */
export function resolve(planned: Planned, known: KnownRows): Sent {
  const { operation, caller, focus, query, headers, extraQuery, extraHeader, body, damage } = planned;
  const kinds = kindsIn(operation.path);
  const owner = known.ownerWith([...kinds.values()], focus);
  const actual = (value: unknown): unknown => withRows(value, known, owner);
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = planned.path[name];
    const wanted = value instanceof Reference ? new Reference(kinds.get(name) ?? '', value.at, value.isStray) : value;
    return encode(actual(wanted));
  });
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encode(actual(value))}`],
  );
  const all = [...pairs, ...(extraQuery === null ? [] : [extraQuery])];
  const sent = body === undefined ? undefined : JSON.stringify(actual(body));
  const type = sent === undefined ? {} : { 'content-type': 'application/json' };
  const given = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, headerText(actual(value))]],
  );
  const whole: Sent = {
    operation,
    caller,
    method: planned.method ?? operation.method,
    url: path + (all.length === 0 ? '' : `?${all.join('&')}`),
    headers: {
      ...type,
      ...Object.fromEntries(given),
      ...(extraHeader !== null && { [extraHeader[0]]: extraHeader[1] }),
    },
    body: sent,
  };
  return damage === null ? whole : { ...whole, ...damage(whole) };
}

/** By the names of the parameters of a path: `/api/contexts/{id}/branches/{name}` has a context and a branch. */
function kindsIn(path: string): Map<string, string> {
  const words = path.split('/');
  return new Map(
    words.flatMap((word, at): [string, string][] => {
      const name = /^\{(\w+)\}$/.exec(word)?.[1];
      if (name === undefined || name === 'n') return [];
      const before = words[at - 1] ?? '';
      const kind =
        name === 'id' || name === 'name' ? before.replace(/ies$/, 'y').replace(/(ch)es$|s$/, '$1') : kindOf(name);
      return [[name, kind]];
    }),
  );
}

function withRows(value: unknown, known: KnownRows, owner: string | null): unknown {
  if (value instanceof Reference) return known.find(value, owner) ?? '01890000-0000-7000-8000-000000000000';
  if (Array.isArray(value)) return value.map((one) => withRows(one, known, owner));
  if (isChangedCursor(value)) return changedCursor(value, known);
  if (typeof value !== 'object' || value === null) return value;
  const made: object = {};
  for (const [name, member] of Object.entries(value))
    Object.defineProperty(made, name, { value: withRows(member, known, owner), enumerable: true });
  return made;
}

function isChangedCursor(value: unknown): value is ChangedCursor {
  return typeof value === 'object' && value !== null && 'changes' in value && 'cursor' in value;
}

/** Other members in the key of a cursor. */
function changedCursor({ cursor, changes }: ChangedCursor, known: KnownRows): string {
  const text = known.find(cursor, null);
  const key: unknown = text === undefined ? ['main', 1] : parse(Buffer.from(text, 'base64url').toString());
  const members = Array.isArray(key) ? [...key] : [key];
  for (const [at, member] of changes) members[at] = member;
  return Buffer.from(JSON.stringify(members)).toString('base64url');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Half a surrogate pair has no encoding: a client sends its replacement character. */
function encode(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return encodeURIComponent(text.toWellFormed());
}

/** Text that HTTP itself does not carry never reaches the platform. */
function headerText(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.replaceAll(/[^\x20-\x7e]/g, '?').trim() || 'x';
}
