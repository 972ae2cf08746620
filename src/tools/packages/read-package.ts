/** Makes the tools of one package from its definition and the options of its user. */
import { Type, type Static } from 'typebox';
import { strict } from '../../schema/build.ts';
import { faultAt, type Fault } from '../../schema/fault.ts';
import { NAME } from '../../schema/patterns.ts';
import { callable, checkerOf, formatted } from '../config/file-validator.ts';
import { readPackageConfig } from './config-schema.ts';
import { readSecrets, type Secret, type SecretSource } from './secrets.ts';

const PREFIX = '^[a-zA-Z0-9_-]{0,32}$';

const DefinitionSchema = strict({
  name: Type.String({ pattern: NAME }),
  config: Type.Optional(Type.Unknown()),
  config_schema: Type.Optional(Type.Unknown()),
  secrets: Type.Optional(Type.Array(formatted('variable'))),
  tools: callable<(this: unknown, parts: object) => unknown>(),
});
type Definition = Static<typeof DefinitionSchema>;

const OptionsSchema = strict({
  prefix: Type.Optional(Type.String({ pattern: PREFIX })),
  config: Type.Optional(Type.Unknown()),
  secrets: Type.Optional(Type.Unknown()),
});
type Options = Static<typeof OptionsSchema>;

const checkDefinition = checkerOf(DefinitionSchema);
const checkOptions = checkerOf(OptionsSchema);

/** `tools`: as the package made them, with the prefix in their names. `secrets`: those that could be read. */
export type ReadPackage = { tools: unknown[]; secrets: Secret[]; faults: Fault[] };

export function readPackage(definition: unknown, options: unknown, source: SecretSource): ReadPackage {
  const faults = [...checkDefinition(definition).faults, ...checkOptions(options).faults];
  if (faults.length > 0) return { tools: [], secrets: [], faults };
  return makeTools(definition as Definition, options as Options, source);
}

function makeTools(definition: Definition, { prefix = '', ...options }: Options, source: SecretSource): ReadPackage {
  const read = readPackageConfig(definition, options.config);
  const { secrets, unset, faults } = readSecrets(definition.secrets ?? [], options.secrets ?? {}, source);
  if (!read.ok || faults.length > 0)
    return { tools: [], secrets, faults: [...(read.ok ? [] : read.faults), ...faults] };
  const values = Object.freeze(Object.fromEntries(secrets.map(({ name, value }) => [name, value])));
  const made = listOf(() => definition.tools({ config: read.config, secrets: values, prefix }));
  return Array.isArray(made)
    ? { tools: made.map((tool: unknown) => prefixed(tool, prefix)), secrets, faults: [] }
    : { tools: [], secrets, faults: [faultAt(['tools'], withAdvice(made.problem, unset))] };
}

function listOf(make: () => unknown): unknown[] | { problem: string } {
  try {
    const made = make();
    if (Array.isArray(made)) return made;
    if (!(made instanceof Promise)) return { problem: 'the function of the package must return a list of tools' };
    made.catch(() => undefined);
    return { problem: 'the function of the package must return a list of tools, and not a promise' };
  } catch (error) {
    return { problem: `the function of the package failed: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** A package that checks the form of its key fails where the key is not needed. */
function withAdvice(problem: string, unset: readonly string[]): string {
  if (unset.length === 0) return problem;
  const [is, its] =
    unset.length === 1 ? ['is', 'its value is a placeholder'] : ['are', 'their values are placeholders'];
  return `${problem.replace(/\.$/, '')}. ${unset.join(', ')} ${is} not set here, so ${its}. Use secrets only when a tool is called`;
}

/** The functions of a tool keep the tool itself as `this`. */
function prefixed(tool: unknown, prefix: string): unknown {
  if (prefix === '' || typeof tool !== 'object' || tool === null) return tool;
  const name: unknown = Reflect.get(tool, 'name');
  return typeof name === 'string' ? { ...tool, name: prefix + name } : tool;
}
