/**
 * What the settings of a worker are taken from. Layers are read in this order, and a setting is taken as a whole from the first
 * layer that has it.
 */
import type { Role, WorkerConfig } from './settings.ts';
import type { Source } from './source.ts';

export type Layers = {
  worker: WorkerConfig;
  role: Role;
  /** For what neither sets. */
  defaults: WorkerConfig;
  /** Where the operator has set a default; one that is missing here is built in. */
  origins?: Origins;
};

export type Origins = { readonly [Member in keyof WorkerConfig]?: Source };

/** The config that applies, without the values that are built in. */
export function mergedConfig({ worker, role, defaults }: Layers): WorkerConfig {
  return { ...defaults, ...role, ...worker };
}

export function sourceOf({ worker, role, defaults, origins = {} }: Layers, member: keyof WorkerConfig): Source {
  if (worker[member] !== undefined) return 'worker';
  if (role[member] !== undefined) return 'role';
  return defaults[member] === undefined ? 'default' : (origins[member] ?? 'default');
}
