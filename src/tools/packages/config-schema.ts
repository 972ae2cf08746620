/** The config of a tool package, checked by the schema that the package brings. */
import { faultAt, placeText, type Fault } from '../../schema/fault.ts';
import { validates, type StandardIssue } from '../config/standard-schema.ts';
import { fromJsonSchema } from '../registry/input.ts';
import { jsonCopy } from '../run/json-copy.ts';

type Result<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** The part of Standard Schema (https://standardschema.dev) that validates. */
export type PackageConfigSchema<Input = unknown, Output = Input> = {
  /** Set by the library. */
  readonly '~standard': {
    /** Of Standard Schema. */
    readonly version: 1;
    /** The name of the library. */
    readonly vendor: string;
    /** For the compiler only. */
    readonly types?:
      | {
          /** What the user of the package writes. */
          readonly input: Input;
          /** What the package gets. */
          readonly output: Output;
        }
      | undefined;
    /** Returns the value with its defaults, or what is wrong with it. */
    readonly validate: (value: unknown) => Result<Output> | Promise<Result<Output>>;
  };
};

/** What the schema makes. */
export type ConfigOf<Schema extends PackageConfigSchema> = NonNullable<Schema['~standard']['types']>['output'];

/** What the user of the package writes. */
export type WrittenConfigOf<Schema extends PackageConfigSchema> = NonNullable<Schema['~standard']['types']>['input'];

type Schemas = { config?: unknown; config_schema?: unknown };

/** `config`: what its tools get. */
type ReadConfig = { ok: true; config: unknown } | { ok: false; faults: Fault[] };

/** `given`: the option; undefined: there is none. */
export function readPackageConfig({ config, config_schema }: Schemas, given: unknown): ReadConfig {
  if (config !== undefined && config_schema !== undefined)
    return refused('has both config and config_schema; a package needs only one', []);
  if (config !== undefined) return given === undefined ? withoutConfig(config) : byLibrary(config, given);
  if (config_schema !== undefined) return byJsonSchema(config_schema, given ?? {});
  return given === undefined ? { ok: true, config: undefined } : refused('this package takes no config');
}

/** A schema that accepts undefined has a default of its own. Of other schemas, each member may have one. */
function withoutConfig(schema: unknown): ReadConfig {
  const optional = byLibrary(schema, undefined);
  return optional.ok ? optional : byLibrary(schema, {});
}

function byLibrary(schema: unknown, given: unknown): ReadConfig {
  if (!isConfigSchema(schema)) return refused('the schema of the package is no Standard Schema; see config_schema');
  try {
    const result = schema['~standard'].validate(given);
    if (result instanceof Promise) {
      result.catch(() => undefined);
      return refused('the schema of the package is async, which it must not be');
    }
    if (result.issues === undefined) return { ok: true, config: result.value };
    return { ok: false, faults: result.issues.map(toFault) };
  } catch (error) {
    return refused(`the schema of the package failed: ${String(error)}`);
  }
}

function byJsonSchema(schema: unknown, given: unknown): ReadConfig {
  const read = fromJsonSchema(schema);
  if (!read.ok) return refused(`the schema of the package ${read.problem}`);
  const config = jsonCopy(given);
  if (config === null) return refused('must be a plain JSON object');
  const checked = read.validate(config);
  if (checked instanceof Promise) throw new Error('The validation of a JSON Schema is not async.');
  if (checked.ok) return { ok: true, config: checked.value };
  return { ok: false, faults: checked.problems.map((problem) => faultAt(['config'], problem)) };
}

function isConfigSchema(value: unknown): value is PackageConfigSchema {
  return validates(value);
}

function toFault({ message, path = [] }: StandardIssue): Fault {
  const keys = path.map((part) => (typeof part === 'object' ? part.key : part));
  const place = ['config', ...keys.map((key) => (typeof key === 'number' ? key : String(key)))];
  return { path: place, message: `${placeText(place)}: ${message.replace(/\.$/, '')}.` };
}

function refused(problem: string, path: readonly string[] = ['config']): ReadConfig {
  return { ok: false, faults: [faultAt(path, problem)] };
}
