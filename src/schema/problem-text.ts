/** What is wrong with a value that does not match a JSON Schema, worded for the model that wrote it. */
import type { ErrorObject } from 'ajv';

/** `whole`: the name of the value itself. */
export function problemText(error: ErrorObject, whole: string): string {
  const where = error.instancePath === '' ? whole : error.instancePath;
  return `${where} ${error.message ?? error.keyword}${detail(error)} (schema: ${error.schemaPath})`;
}

/** Details that Ajv's messages lack. */
function detail({ keyword, params }: ErrorObject): string {
  switch (keyword) {
    case 'enum':
      return `: ${JSON.stringify(params['allowedValues'])}`;
    case 'const':
      return `: ${JSON.stringify(params['allowedValue'])}`;
    case 'additionalProperties':
      return `: ${JSON.stringify(params['additionalProperty'])}`;
    case 'unevaluatedProperties':
      return `: ${JSON.stringify(params['unevaluatedProperty'])}`;
    default:
      return '';
  }
}
