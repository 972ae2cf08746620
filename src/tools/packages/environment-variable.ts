/** A secret that is read from the environment of the process when the config is checked. */
const MARK = Symbol.for('nightshift.environment_variable');

/** What `env` returns. It holds the name of the variable, and not its value. */
export type EnvironmentVariable = {
  /** Its name. */
  readonly variable: string;
  /** Tells it from other objects. */
  readonly [MARK]: true;
};

/**
 * The value of an environment variable, for a secret of a tool package: `secrets: { WEATHER_API_KEY: env('EU_KEY') }`. It
 * is read when a process checks its config. If the variable is not set then, the fault names it.
 *
 * In a service that calls `createNightshift`, it is read from the option `env`.
 */
export function env(variable: string): EnvironmentVariable {
  return { variable, [MARK]: true };
}

/** The name of the variable; null: the value is none of `env`. Also for values made by another copy of this package. */
export function readVariable(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || !(MARK in value) || !('variable' in value)) return null;
  return typeof value.variable === 'string' ? value.variable : null;
}
