/**
 * `output_schema` of a role in the config file: a JSON Schema, one of TypeBox, or a schema of a library that implements
 * Standard Schema. Its JSON Schema describes the value that the schema makes.
 */
import type { OutputSchema } from '../../../core/run/output.ts';
import { faultAt, type Fault, type Path } from '../../../schema/fault.ts';
import { outputSchemaFaults } from '../../../schema/output-schema.ts';
import { derive } from '../../registry/input.ts';
import { jsonCopy } from '../../run/json-copy.ts';
import { isStandardSchema, validates } from '../standard-schema.ts';

type ReadSchema = { ok: true; schema: OutputSchema } | { ok: false; faults: Fault[] };

export function readOutputSchema(value: unknown, at: Path): ReadSchema {
  if (value === false) return { ok: true, schema: false };
  const derived = isStandardSchema(value) ? derive(value, 'output') : copied(value);
  if (!derived.ok) return { ok: false, faults: [faultAt(at, derived.problem)] };
  const faults = outputSchemaFaults(derived.schema, at);
  return faults.length > 0 ? { ok: false, faults } : derived;
}

function copied(value: unknown): ReturnType<typeof derive> {
  const schema = validates(value) ? null : jsonCopy(value);
  if (schema !== null) return { ok: true, schema };
  return {
    ok: false,
    problem: 'must be a JSON Schema as a plain JSON object, a schema of a library with Standard JSON Schema, or false',
  };
}
