/** The tools that this process can run, by name. */
import type { ToolDescriptor } from '../core/tool.ts';
import type { ToolServers } from './servers.ts';
import type { Tool } from './tool.ts';

export type Registry = {
  /** Sorted; without those of servers, which come and go. */
  names: readonly string[];
  get(name: string): Tool | undefined;
  describe(name: string): ToolDescriptor | undefined;
};

/** Throws where two tools share a name: the config file is refused long before. */
export function createRegistry(tools: readonly Tool[]): Registry {
  const byName = new Map<string, Tool>();
  for (const tool of tools) {
    if (byName.has(tool.descriptor.name)) throw new Error(`Two tools are named ${tool.descriptor.name}.`);
    byName.set(tool.descriptor.name, tool);
  }
  return {
    names: [...byName.keys()].sort(),
    get: (name) => byName.get(name),
    describe: (name) => byName.get(name)?.descriptor,
  };
}

/** Those of a registry, and those that servers bring. */
export function withServers(registry: Registry, servers: ToolServers): Registry {
  const get = (name: string): Tool | undefined => registry.get(name) ?? servers.get(name);
  return { names: registry.names, get, describe: (name) => get(name)?.descriptor };
}
