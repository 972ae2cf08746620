/** Structured answers: a schema of a library is sent as JSON Schema, and its type is that of the data. */
import type { Job, JobOutput, Json, OutputSchema } from './schema.ts';

/** The part of Standard JSON Schema (https://standardschema.dev) that is used. `T`: the type of the value that it makes. */
export type StandardJsonSchema<T = unknown> = {
  /** What the library tells of the schema. */
  readonly '~standard': {
    /** Of Standard JSON Schema. */
    readonly version: 1;
    /** The name of the library. */
    readonly vendor: string;
    /** For the compiler only. */
    readonly types?: Types<T> | undefined;
    /** Converts the schema to JSON Schema. */
    readonly jsonSchema: {
      /** Of what comes out. Throws for what JSON Schema cannot express, and for an unknown target. */
      readonly output: (options: Target) => Record<string, unknown>;
    };
  };
};

type Types<T> = { readonly input: unknown; readonly output: T };

/** The draft of JSON Schema, such as `draft-2020-12`. */
type Target = { readonly target: string };

/** The type of the data that a schema describes. */
export type DataOf<Schema extends StandardJsonSchema> = NonNullable<Schema['~standard']['types']>['output'];

/** A job whose output has data of this type. Null: the job has no schema, or did not complete. */
export type JobOf<T> = Omit<Job, 'output'> & {
  /** The final answer; null: there is none (yet). */
  output: OutputWith<T> | null;
};

type OutputWith<T> = Omit<JobOutput, 'data'> & {
  /** The answer as the schema of the job describes it. */
  data: T | null;
};

/** In order of preference. */
const TARGETS = ['draft-2020-12', 'draft-07'];

/** The JSON Schema of a library's schema, for `output_schema`. Throws if it cannot be expressed as one. */
export function outputSchema(schema: StandardJsonSchema): OutputSchema {
  const faults: unknown[] = [];
  for (const target of TARGETS) {
    try {
      const { $schema: _, ...json } = schema['~standard'].jsonSchema.output({ target });
      // A plain copy: what is not JSON is left out, as it would be in the request.
      return JSON.parse(JSON.stringify(json)) as { [key: string]: Json };
    } catch (error) {
      faults.push(error);
    }
  }
  throw new TypeError(`The output schema cannot be converted to JSON Schema: ${String(faults[0])}`, {
    cause: faults[0],
  });
}
