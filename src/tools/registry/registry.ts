/** The tools of this process, by name. */
import type { ToolCaller } from '../../core/tools/tool.ts';
import type { ToolServers } from './servers.ts';
import type { Tool } from './tool.ts';

export type Registry = {
  /** Sorted; without the tools of MCP servers, which change. */
  names: readonly string[];
  /** `caller`: whose call it is; null: of no caller in particular. */
  get(name: string, caller: ToolCaller | null): Tool | undefined;
};

/** Throws if two tools have the same name; the config file has been checked for this before. */
export function createRegistry(tools: readonly Tool[]): Registry {
  const byName = new Map<string, Tool>();
  for (const tool of tools) {
    if (byName.has(tool.descriptor.name)) throw new Error(`Two tools have the name ${tool.descriptor.name}.`);
    byName.set(tool.descriptor.name, tool);
  }
  return {
    names: [...byName.keys()].sort(),
    get: (name) => byName.get(name),
  };
}

/** The tools of a registry and of the MCP servers. */
export function withServers(registry: Registry, servers: ToolServers): Registry {
  return { names: registry.names, get: (name, caller) => registry.get(name, caller) ?? servers.get(name, caller) };
}
