/** Whether a client's JSON Schema is valid, by the meta-schemas: nothing of it is compiled. */
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { isJsonObject, type JsonObject } from '../core/json.ts';
import { once } from '../core/once.ts';

const OPTIONS = { strict: false, logger: false } as const;

const DRAFT_7 = 'http://json-schema.org/draft-07/schema';

type Draft = { validateSchema(schema: JsonObject): unknown };

/** The first schema waits 70 ms for them. */
const drafts = once(
  (): ReadonlyMap<string, Draft> =>
    new Map<string, Draft>([
      ['https://json-schema.org/draft/2020-12/schema', new Ajv2020(OPTIONS)],
      [DRAFT_7, draft7()],
    ]),
);

/** Draft 7 without `uniqueItems` for `enum`: that check is quadratic, and draft 2020-12 does not have it. */
function draft7(): Draft {
  const own = new Ajv(OPTIONS).schemas[DRAFT_7]?.schema;
  if (!isJsonObject(own) || !isJsonObject(own['properties'])) throw new Error('Ajv has no meta-schema of draft 7.');
  const ajv = new Ajv({ ...OPTIONS, meta: false });
  return ajv.addMetaSchema({ ...own, properties: { ...own['properties'], enum: { type: 'array' } } });
}

/** Valid by the draft that `$schema` names (2020-12 or 7); without `$schema` by either. */
export function isJsonSchema({ $schema, ...schema }: JsonObject): boolean {
  if ($schema === undefined) return [...drafts().values()].some((draft) => draft.validateSchema(schema) === true);
  const draft = typeof $schema === 'string' ? drafts().get($schema.replace(/#$/, '')) : undefined;
  return draft?.validateSchema(schema) === true;
}
