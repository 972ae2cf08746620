/** Tools that a client runs, as it names them in a config: each once, like none of ours, with a schema that is one. */
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { refuse } from '../core/errors.ts';
import type { Refusal } from '../core/errors.ts';
import { isJsonObject } from '../core/json.ts';
import type { JsonObject } from '../core/json.ts';
import type { ClientTool } from '../core/settings.ts';

const OPTIONS = { strict: false, logger: false } as const;

const DRAFT_7 = 'http://json-schema.org/draft-07/schema';

type Draft = { validateSchema(schema: JsonObject): unknown };

/** Only ever asked whether a schema is one: none is compiled here. */
const DRAFTS: ReadonlyMap<string, Draft> = new Map<string, Draft>([
  ['https://json-schema.org/draft/2020-12/schema', new Ajv2020(OPTIONS)],
  [DRAFT_7, draft7()],
]);

// What they check schemas by is compiled now, and not in the first request.
for (const draft of DRAFTS.values()) draft.validateSchema({});

/** Without its rule that values of an `enum` differ: to find out takes their number squared, and draft 2020-12 has no such rule. */
function draft7(): Draft {
  const own = new Ajv(OPTIONS).getSchema(DRAFT_7)?.schema;
  if (!isJsonObject(own) || !isJsonObject(own['properties'])) throw new Error('Ajv has no draft 7.');
  const ajv = new Ajv({ ...OPTIONS, meta: false });
  return ajv.addMetaSchema({ ...own, properties: { ...own['properties'], enum: { type: 'array' } } });
}

/** `ours`: names of tools that live processes serve. `param`: where the list stands. Null: all is well. */
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
        `${at}.name is the name of a tool that the platform runs.`,
        `${at}.name`,
      );
    }
    if (tools.findIndex((tool) => tool.name === name) < index) {
      return refuse('invalid_request', `${at}.name is the name of another tool in the list.`, `${at}.name`);
    }
    if (!isSchema(schema)) {
      return refuse('invalid_request', `${at}.input_schema is no JSON Schema.`, `${at}.input_schema`);
    }
  }
  return null;
}

/** Of draft 2020-12 or 7: as `$schema` says, else of either. */
function isSchema({ $schema, ...schema }: JsonObject): boolean {
  if ($schema === undefined)
    return [...DRAFTS.values()].some((draft) => draft.validateSchema(schema) === true);
  const draft = typeof $schema === 'string' ? DRAFTS.get($schema.replace(/#$/, '')) : undefined;
  return draft?.validateSchema(schema) === true;
}
