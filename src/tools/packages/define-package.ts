/**
 * `defineToolPackage`, for packages that share tools. It checks nothing: the config file does, when a process loads it, with
 * the checks of the platform that runs.
 */
import type { ToolDefinition } from '../config/define.ts';
import type { InputOf } from '../config/json-schema-input.ts';
import type { PackageConfigSchema, ConfigOf, WrittenConfigOf } from './config-schema.ts';
import type { EnvironmentVariable } from './environment-variable.ts';
import { markUncalled, usedPackage, type UsedToolPackage } from './used-package.ts';

/** What the tools of a package are made from. */
export type ToolPackageParts<Config, Names extends readonly string[]> = {
  /** As the user of the package wrote it, validated by its schema, with defaults and conversions. */
  config: Config;
  /** The values, by name. All are set. They are hidden in results, errors, logs and progress of all tools. */
  secrets: { readonly [Name in Names[number]]: string };
  /** What the names of the tools will begin with, for a description that names another tool of the package. */
  prefix: string;
};

/** A tool package. */
type Definition<Config, Names extends readonly string[]> = {
  /** For messages. 1 to 64 letters, digits, `_` or `-`, such as `weather`. */
  name: string;
  /**
   * Names of the secrets that it needs: letters, digits and `_`, such as `WEATHER_API_KEY`. Unless its user gives another
   * value, each is read from the environment variable of this name.
   */
  secrets?: Names | undefined;
  /**
   * Makes the tools, when a process checks its config. Must not wait, and must not call anything. Use secrets only when a
   * tool is called: a process that runs no tools has placeholders in their place, which have another form.
   */
  tools: (parts: ToolPackageParts<Config, Names>) => readonly ToolDefinition[];
};

/** What the user of a package gives. */
export type ToolPackageOptions<Config, Names extends readonly string[]> = {
  /** Comes before the names of all its tools: letters, digits, `_` or `-`. Default: nothing. */
  prefix?: string | undefined;
} & ConfigOption<Config> &
  SecretsOption<Names>;

/** Not needed if it is optional, or if every member has a default. */
type ConfigOption<Config> = [Config] extends [undefined]
  ? { config?: undefined }
  : undefined extends Config
    ? { config?: Config }
    : Partial<Config> extends Config
      ? { config?: Config | undefined }
      : { config: Config };

type SecretsOption<Names extends readonly string[]> = Names extends readonly []
  ? { secrets?: undefined }
  : {
      /** Values that do not come from the environment variable of the same name: a text, or `env('OTHER_NAME')`. */
      secrets?: { readonly [Name in Names[number]]?: string | EnvironmentVariable | undefined } | undefined;
    };

/** What a package exports: call it in `tools` of the config file. */
export type ToolPackage<Config, Names extends readonly string[]> = (
  ...options: Partial<ToolPackageOptions<Config, Names>> extends ToolPackageOptions<Config, Names>
    ? [options?: ToolPackageOptions<Config, Names>]
    : [options: ToolPackageOptions<Config, Names>]
) => UsedToolPackage;

/**
 * Defines tools that other projects use: an npm package exports what it returns.
 *
 * `config`: a schema of a library that implements Standard Schema (zod, Valibot, ArkType), which must not be async.
 *
 * @example
 * export const weather = defineToolPackage({
 *   name: 'weather',
 *   config: z.object({ units: z.enum(['metric', 'imperial']).default('metric') }),
 *   secrets: ['WEATHER_API_KEY'],
 *   tools: ({ config, secrets }) => [defineTool({ … })],
 * });
 * // in nightshift.config.ts
 * export default defineConfig({ tools: [weather({ prefix: 'weather_' })] });
 */
export function defineToolPackage<Schema extends PackageConfigSchema, const Names extends readonly string[] = []>(
  definition: Definition<ConfigOf<Schema>, Names> & {
    /** A schema of a library that implements Standard Schema. */
    config: Schema;
    /** Of this kind of package there is none. */
    config_schema?: undefined;
  },
): ToolPackage<WrittenConfigOf<Schema>, Names>;
/** The same with `config_schema`: a JSON Schema of an object, or a schema of TypeBox. Its defaults are not filled in. */
export function defineToolPackage<const Schema extends object, const Names extends readonly string[] = []>(
  definition: Definition<InputOf<Schema>, Names> & {
    /** Of this kind of package there is none. */
    config?: undefined;
    /** A JSON Schema of an object, or a schema of TypeBox. */
    config_schema: Schema;
  },
): ToolPackage<InputOf<Schema>, Names>;
/** The same for a package without config. */
export function defineToolPackage<const Names extends readonly string[] = []>(
  definition: Definition<undefined, Names> & {
    /** It takes no config. */
    config?: undefined;
    /** It takes no config. */
    config_schema?: undefined;
  },
): ToolPackage<undefined, Names>;
export function defineToolPackage(definition: { name: string }): (options?: unknown) => UsedToolPackage {
  const { name } = definition;
  return markUncalled((options?: unknown) => usedPackage(name, { definition, options: options ?? {} }), name);
}
