/** A worker's config over its role over the defaults, as this process can serve it. Pure. */
import { parseModelName } from '../core/model.ts';
import type { ModelName } from '../core/model.ts';
import type { Role, Serving, WorkerConfig } from '../core/settings.ts';
import type { ToolDescriptor } from '../core/tool.ts';
import type { Catalog, Defaults } from './catalog.ts';
import type { Registry } from './registry.ts';

/**
 * `from`: a role of the operator's file by its name, one of the API by its definition. `missing` names what this process
 * lacks: `role coder`, `provider anthropic`, `tool read_file`; all of it.
 */
export function resolve(config: WorkerConfig, from: string | Role | null, catalog: Catalog): Serving {
  const role = typeof from === 'string' ? catalog.roles.get(from) : (from ?? {});
  // Without its role it is not known what else a worker would need, but for what its own config says.
  const whole = role === undefined ? null : merge(config, role, catalog.defaults);
  const said: WorkerConfig = whole ?? config;
  const model = said.model === undefined ? null : parseModelName(said.model);
  const tools = findTools(said.tools ?? [], catalog.registry);
  const missing = [
    ...(role === undefined && typeof from === 'string' ? [`role ${from}`] : []),
    ...missingProvider(said.model, model, catalog),
    ...tools.missing,
  ];
  if (whole === null || model === null || missing.length > 0) return { kind: 'unserved', missing };
  return {
    kind: 'served',
    settings: {
      model,
      streaming: whole.streaming ?? true,
      systemPrompt: whole.system_prompt ?? '',
      tools: tools.found,
      maxTokens: whole.max_tokens ?? null,
      maxSteps: whole.max_steps,
      parameters: whole.parameters ?? {},
    },
  };
}

/** Member by member: `parameters` and `tools` are replaced whole. */
function merge(config: WorkerConfig, role: Role, defaults: Defaults): Defaults {
  return { ...defaults, ...role, ...config };
}

function missingProvider(
  name: string | undefined,
  model: ModelName | null,
  { providers }: Catalog,
): string[] {
  if (name === undefined) return [];
  if (model === null) return [`model ${name}`];
  return providers.has(model.provider) ? [] : [`provider ${model.provider}`];
}

/** Sorted by name, each once. */
function findTools(
  names: readonly string[],
  registry: Registry,
): { found: ToolDescriptor[]; missing: string[] } {
  const found: ToolDescriptor[] = [];
  const missing: string[] = [];
  for (const name of [...new Set(names)].sort()) {
    const tool = registry.describe(name);
    if (tool === undefined) missing.push(`tool ${name}`);
    else found.push(tool);
  }
  return { found, missing };
}
