/** Shared parts of the schemas of requests and responses. */
import { Type, type Static, type TSchema } from 'typebox';
import type { Json } from '../../core/json.ts';
import { LONGEST_USER, type User } from '../../core/access/user.ts';
import { MAX_BYTES, SETTINGS_BYTES, nullable, oneOf, plainText, ref, strict } from '../../schema/build.ts';

/** A query parameter with one value of an enum, or several separated by commas (`splitLists`). */
export function someOf<const Values extends readonly string[]>(values: Values, description: string) {
  return Type.Union([oneOf(values), Type.Array(oneOf(values), { minItems: 1, maxItems: values.length })], {
    description: `${description} Several are separated by commas.`,
  });
}

/** A union discriminated by `type`. */
export function byType<Schemas extends (TSchema & { $id?: string })[]>($id: string, schemas: readonly [...Schemas]) {
  return Type.Unsafe<Static<Schemas[number]>>({
    $id,
    type: 'object',
    required: ['type'],
    discriminator: { propertyName: 'type' },
    oneOf: schemas.map((schema) => ref(schema)),
  });
}

/** The same schema with a description of its own. */
export function described<Schema extends TSchema>(schema: Schema, description: string) {
  return Type.Unsafe<Static<Schema>>({ ...schema, description });
}

export const Uuid = Type.String({ format: 'uuid' });

export const Instant = Type.String({ format: 'date-time', description: 'ISO 8601.' });

export const Count = Type.Integer({ minimum: 0 });

export const Positive = Type.Integer({ minimum: 1 });

/** A turn in a response: of any length, unlike that of a request. */
export const TurnName = Type.String({ pattern: '^[ua][1-9][0-9]*$' });

export const AnyJson = Type.Unsafe<Json>({});

export const JsonObject = Type.Unsafe<{ [key: string]: Json }>({ type: 'object' });

/** Metadata of the client, returned unchanged. */
export const Metadata = Type.Unsafe<{ [key: string]: Json }>({ type: 'object', [MAX_BYTES]: SETTINGS_BYTES });

export const Title = plainText(500);

export const UserName = Type.Unsafe<User>(
  plainText(
    LONGEST_USER,
    1,
    'An end user of the tenant, by the name that its own service uses. With a token only the user of the token is allowed.',
  ),
);

export const Page = {
  limit: Type.Integer({ minimum: 1, maximum: 200, default: 50 }),
  cursor: Type.Optional(
    Type.String({ minLength: 1, maxLength: 500, description: '`next_cursor` of the previous page.' }),
  ),
};

/** The query of a list without filters. */
export const PageQuery = strict(Page);

export const Order = Type.Unsafe<'asc' | 'desc'>({ type: 'string', enum: ['asc', 'desc'], default: 'asc' });

/** A filter of lists that leave out archived items. */
export const Archived = Type.Boolean({
  default: false,
  description: 'True: only archived items. False: only items that are not archived.',
});

/** `{data, next_cursor}`; `next_cursor` is null on the last page. */
export function listOf<Schema extends TSchema & { $id?: string }>($id: string, item: Schema) {
  return strict({ data: Type.Array(ref(item)), next_cursor: nullable(Type.String()) }, { $id });
}

export const Usage = strict(
  {
    input_tokens: described(Count, 'Without tokens read from a cache.'),
    output_tokens: Count,
    cache_read_tokens: Count,
    cache_write_tokens: Count,
    cache_hit_ratio: nullable(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description:
          'Share of prompt tokens that the provider read from its cache: cache_read / (input + cache_read + cache_write). Null: no prompt tokens.',
      }),
    ),
    cost: nullable(
      Type.String({
        description:
          'US dollars, decimal, at the prices at the time of each call. A sum includes only calls with a known price. Null: no known price.',
      }),
    ),
  },
  { $id: 'Usage' },
);

export const WriteHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'A repeated request with the same key and body gets the stored response, for one day.',
    }),
  ),
});

/** Headers of routes that write settings. */
export const VersionedHeaders = Type.Object({
  ...WriteHeaders.properties,
  'if-match': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1_000,
      description: 'ETags; one of them must be the current one.',
    }),
  ),
});

export const Empty = Type.Null({ description: 'Success, without a body.' });

export function versioned<Schema extends TSchema & { $id?: string }>(schema: Schema) {
  return {
    description: 'The header etag has the version of the settings.',
    headers: { etag: Type.String({ description: 'The version of the settings, for If-Match.' }) },
    content: { 'application/json': { schema: ref(schema) } },
  } as const;
}
