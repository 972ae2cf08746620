/** The tools of a run in memory: those of the config, the built-in ones, and stand-ins in their place. */
import type { JsonObject } from '../core/json.ts';
import { serverOf } from '../core/tools/mcp-tool-name.ts';
import { BUILT_IN_NAMES, builtInTools } from '../tools/built-in/tools.ts';
import type { OperatorSettings } from '../tools/config/parse-config.ts';
import type { Tool } from '../tools/registry/tool.ts';
import { TestKitError } from './error.ts';
import { memoriesInMemory } from './memory/memories.ts';
import { unusedParts } from './memory/unused-parts.ts';
import type { StandIn, StandIns } from './stand-ins.ts';

/**
 * `recorded`: of a replay, the names of the tools that were called; tools that a test does not have then get a stand-in
 * that fails. Null: no replay.
 */
export type Given = { standIns: StandIns; recorded: ReadonlySet<string> | null };

/** Stand-ins for names that this config does not have are left out. */
export function toolsOf(settings: OperatorSettings, { standIns, recorded }: Given): Tool[] {
  const inside = [...builtInTools({ memories: memoriesInMemory() }), ...settings.tools];
  const names = new Set(inside.map(({ descriptor }) => descriptor.name));
  const outside = [
    ...builtInTools(unusedParts(settings.limits)),
    ...mcpNames(settings, { standIns, recorded }).map((name) => mcpTool(name, settings)),
  ].filter(({ descriptor }) => !names.has(descriptor.name));
  return [
    ...inside.map((tool) => withStandIn(tool, standInFor(standIns, tool)) ?? tool),
    ...outside.flatMap((tool) => {
      const standIn = standInFor(standIns, tool) ?? (recorded === null ? undefined : failing(tool));
      return withStandIn(tool, standIn) ?? [];
    }),
  ];
}

/** Throws a `TestKitError` if a name is not that of a tool. `option`: which names the tools. */
export function expectTools(settings: OperatorSettings, option: string, names: readonly string[]): void {
  const own = settings.tools.map(({ descriptor }) => descriptor.name);
  const unknown = names.find(
    (name) => !own.includes(name) && !BUILT_IN_NAMES.includes(name) && !isOfServer(name, settings),
  );
  if (unknown === undefined) return;
  const servers = [...settings.mcpServers.keys()].map((server) => `${server}__…`);
  const known = [...own, ...servers].join(', ');
  const message = `${option}: no tool has the name ${JSON.stringify(unknown)}. The tools of the config: ${known === '' ? 'none' : known}. Built-in tools: ${BUILT_IN_NAMES.join(', ')}.`;
  throw new TestKitError('unknown_tool', message);
}

function isOfServer(name: string, { mcpServers }: OperatorSettings): boolean {
  const server = serverOf(name);
  return server !== null && mcpServers.has(server);
}

function standInFor(standIns: StandIns, { descriptor: { name } }: Tool): StandIn | undefined {
  return Object.hasOwn(standIns, name) ? standIns[name] : undefined;
}

/** Those with a stand-in, and the recorded ones, also if the config no longer has their server. */
function mcpNames(settings: OperatorSettings, { standIns, recorded }: Given): string[] {
  const called = [...(recorded ?? [])].filter((name) => serverOf(name) !== null);
  return [...new Set([...Object.keys(standIns).filter((name) => isOfServer(name, settings)), ...called])];
}

/** Keeps name, schema, effect and approval. Undefined: there is no stand-in. */
function withStandIn(tool: Tool, standIn: StandIn | undefined): Tool | undefined {
  if (standIn === undefined) return undefined;
  const { reconcile: _, ...kept } = tool;
  const descriptor = { ...tool.descriptor, answered_by: 'tool' as const };
  // The input was validated by the schema of the tool, which is one of an object.
  return {
    ...kept,
    descriptor,
    transactional: false,
    execute: (input, context) => standIn(input as JsonObject, context),
  };
}

/**
 * Its server does not run, so its schema is not known, and neither is whether it needs approval: it does, unless the
 * config has decided.
 */
function mcpTool(name: string, { mcpServers }: OperatorSettings): Tool {
  return {
    descriptor: {
      name,
      description: '',
      input_schema: { type: 'object' },
      effect: 'none',
      on_unknown: 'tell',
      answered_by: 'tool',
    },
    approval: mcpServers.get(serverOf(name) ?? '')?.approval ?? 'always',
    timeoutMs: null,
    validate: (value) => ({ ok: true, value }),
    execute: () => failed(name),
  };
}

function failing({ descriptor: { name } }: Tool): StandIn {
  return () => failed(name);
}

function failed(name: string) {
  const content = `A replay cannot run ${name}. Give a stand-in for it: standIns: { ${name}: (input) => … }.`;
  return { content, is_error: true };
}
