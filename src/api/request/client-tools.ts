/** Checks `client_tools` of a config: unique names, none of a server-side tool, and valid JSON Schemas. */
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { refuse } from '../../core/errors.ts';
import type { Refusal } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import type { ClientTool } from '../../core/workers/settings.ts';

const OPTIONS = { strict: false, logger: false } as const;

const DRAFT_7 = 'http://json-schema.org/draft-07/schema';

type Draft = { validateSchema(schema: JsonObject): unknown };

/** Used only to validate schemas; none is compiled here. */
const DRAFTS: ReadonlyMap<string, Draft> = new Map<string, Draft>([
  ['https://json-schema.org/draft/2020-12/schema', new Ajv2020(OPTIONS)],
  [DRAFT_7, draft7()],
]);

// Compiles the meta-schemas at start and not in the first request.
for (const draft of DRAFTS.values()) draft.validateSchema({});

/** Draft 7 without `uniqueItems` for `enum`: that check is quadratic, and draft 2020-12 does not have it. */
function draft7(): Draft {
  const own = new Ajv(OPTIONS).getSchema(DRAFT_7)?.schema;
  if (!isJsonObject(own) || !isJsonObject(own['properties']))
    throw new Error('Ajv has no meta-schema of draft 7.');
  const ajv = new Ajv({ ...OPTIONS, meta: false });
  return ajv.addMetaSchema({ ...own, properties: { ...own['properties'], enum: { type: 'array' } } });
}

/** `ours`: names of tools that live worker processes serve. `param`: path of the list in the body. Null: valid. */
export function checkClientTools(
  tools: readonly ClientTool[],
  ours: readonly string[],
  param: string,
): Refusal | null {
  for (const [index, { name, input_schema: schema }] of tools.entries()) {
    const at = `${param}.${index}`;
    if (ours.includes(name)) {
      return refuse(
        'invalid_request',
        `${at}.name is ${name}, which is the name of a tool that worker processes run. Use another name.`,
        `${at}.name`,
      );
    }
    if (tools.findIndex((tool) => tool.name === name) < index) {
      return refuse(
        'invalid_request',
        `${at}.name is ${name}, which an earlier tool in the list already has. Names must be unique.`,
        `${at}.name`,
      );
    }
    if (!isSchema(schema)) {
      return refuse(
        'invalid_request',
        `${at}.input_schema is not a valid JSON Schema (draft 2020-12 or 7).`,
        `${at}.input_schema`,
      );
    }
  }
  return null;
}

/** Valid by the draft that `$schema` names (2020-12 or 7); without `$schema` by either. */
function isSchema({ $schema, ...schema }: JsonObject): boolean {
  if ($schema === undefined)
    return [...DRAFTS.values()].some((draft) => draft.validateSchema(schema) === true);
  const draft = typeof $schema === 'string' ? DRAFTS.get($schema.replace(/#$/, '')) : undefined;
  return draft?.validateSchema(schema) === true;
}
