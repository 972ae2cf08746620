/** The secrets of a tool package: where they come from, and the fault of one that is missing. */
import { faultAt, type Fault } from '../../schema/fault.ts';
import { readVariable } from './environment-variable.ts';

/** Shorter values are parts of other words: they cannot be hidden in texts. */
export const SHORTEST_SECRET = 6;

export type Secret = { name: string; value: string };

/** Where secrets are read from. */
export type SecretSource = {
  variables: Readonly<Record<string, string | undefined>>;
  /** What to do about a variable that is not set: follows "is missing." */
  advice: (variable: string) => string;
  /** Whether one that is missing is a fault. If not, its value is a placeholder: for what runs no tool of the package. */
  isRequired: boolean;
};

/** The environment of a process. */
export function fromEnvironment(variables: SecretSource['variables'], isRequired = true): SecretSource {
  return { variables, advice: (variable) => `Set the environment variable ${variable}`, isRequired };
}

/** Nothing is set, and nothing is needed. */
export const PLACEHOLDERS: SecretSource = fromEnvironment({}, false);

/** `unset`: names of those whose value is a placeholder. */
type ReadSecrets = { secrets: Secret[]; unset: string[]; faults: Fault[] };

/** `names`: what the package needs. `given`: the option `secrets` of its user. */
export function readSecrets(names: readonly string[], given: unknown, source: SecretSource): ReadSecrets {
  if (!isRecord(given))
    return { secrets: [], unset: [], faults: [faultAt(['secrets'], 'must be an object: secrets by their names')] };
  const secrets: Secret[] = [];
  const unset: string[] = [];
  const faults = Object.keys(given)
    .filter((name) => !names.includes(name))
    .map((name) =>
      faultAt(['secrets', name], `this package has no such secret. Its secrets: ${names.join(', ') || 'none'}`),
    );
  for (const name of new Set(names)) {
    const read = readSecret(name, given, source);
    if (typeof read === 'string') secrets.push({ name, value: read });
    else if ('unset' in read) {
      secrets.push({ name, value: read.unset });
      unset.push(name);
    } else faults.push(faultAt(['secrets', name], read.problem));
  }
  return { secrets, unset, faults };
}

function readSecret(name: string, given: Record<string, unknown>, source: SecretSource): string | NotSet {
  const isGiven = Object.hasOwn(given, name);
  const variable = isGiven ? readVariable(given[name]) : name;
  const value = variable === null ? given[name] : source.variables[variable];
  if (value === undefined || value === '') return missing(name, variable, isGiven, source);
  if (typeof value !== 'string')
    return { problem: "must be a text, or env('NAME') with the name of an environment variable" };
  if (value.trim().length >= SHORTEST_SECRET) return value;
  return { problem: `is shorter than ${SHORTEST_SECRET} characters, so it could not be hidden in results and logs` };
}

/** `unset`: the placeholder in its place. */
type NotSet = { unset: string } | { problem: string };

function missing(name: string, variable: string | null, isGiven: boolean, source: SecretSource): NotSet {
  if (!source.isRequired) return { unset: `unset-${name}` };
  if (variable === null)
    return { problem: `is missing. Its value is empty; env('NAME') reads an environment variable` };
  const or = isGiven ? '' : `, or give it: secrets: { ${name}: … }`;
  return { problem: `is missing. ${source.advice(variable)}${or}` };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
