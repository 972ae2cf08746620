/** Where the value of a setting comes from. */

/**
 * `worker`: its config. `role`: its role. `environment` and `config_file`: set by the operator for all workers.
 * `provider`: follows from the provider of the model. `default`: built in.
 */
export const SOURCES = ['worker', 'role', 'environment', 'config_file', 'provider', 'default'] as const;
export type Source = (typeof SOURCES)[number];

export type Sourced<Value> = { value: Value; source: Source };
