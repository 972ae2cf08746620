/** Checks `client_tools` of a config: unique names, none of a server-side tool, and valid JSON Schemas. */
import type { ClientTool } from '../../core/workers/settings.ts';
import { clientToolNameFaults } from '../../schema/client-tool-names.ts';
import { faultAt, type Fault, type Path } from '../../schema/fault.ts';
import { isJsonSchema } from '../../schema/json-schema.ts';

/** `isOurs`: whether a live worker process serves a tool of this name. */
export function clientToolFaults(tools: readonly ClientTool[], isOurs: (name: string) => boolean, at: Path): Fault[] {
  const schemas = tools.flatMap(({ input_schema: schema }, index) =>
    isJsonSchema(schema)
      ? []
      : [faultAt([...at, index, 'input_schema'], 'is not a valid JSON Schema (draft 2020-12 or 7)')],
  );
  return [...clientToolNameFaults(tools, isOurs, at), ...schemas];
}
