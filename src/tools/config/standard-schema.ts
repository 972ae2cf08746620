/**
 * The parts of Standard Schema and Standard JSON Schema (https://standardschema.dev) that tool inputs need. Any library
 * that implements both can be used, and none is a dependency.
 */
export type StandardSchema<Input = unknown, Output = Input> = {
  /** What the library tells of the schema. */
  readonly '~standard': {
    /** Of Standard Schema. */
    readonly version: 1;
    /** The name of the library. */
    readonly vendor: string;
    /** For the compiler only. */
    readonly types?: Types<Input, Output> | undefined;
    /** Checks and converts a value. */
    readonly validate: (
      value: unknown,
      options?: ValidateOptions,
    ) => StandardResult<Output> | Promise<StandardResult<Output>>;
    /** Converts the schema to JSON Schema. */
    readonly jsonSchema: {
      /** Of what is checked. Throws for what JSON Schema cannot express, and for an unknown target. */
      readonly input: (options: Target) => Record<string, unknown>;
      /** Of what comes out. Throws as `input` does. */
      readonly output: (options: Target) => Record<string, unknown>;
    };
  };
};

type Types<Input, Output> = { readonly input: Input; readonly output: Output };

/** The draft of JSON Schema, such as `draft-2020-12`. */
type Target = { readonly target: string };

type ValidateOptions = { readonly libraryOptions?: Record<string, unknown> | undefined };

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

export type StandardIssue = {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
};

/** The type of a validated value. */
export type OutputOf<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['output'];

/** Whether `value` can validate. Schemas of libraries are objects or functions. */
export function validates(value: unknown): boolean {
  return typeof standardOf(value)?.['validate'] === 'function';
}

/** Whether `value` can validate and convert itself to JSON Schema. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  const jsonSchema = standardOf(value)?.['jsonSchema'];
  return validates(value) && isRecord(jsonSchema) && typeof jsonSchema['input'] === 'function';
}

function standardOf(value: unknown): Record<string, unknown> | null {
  if (!isRecord(value) && typeof value !== 'function') return null;
  const standard: unknown = Reflect.get(value, '~standard');
  return isRecord(standard) && standard['version'] === 1 ? standard : null;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
