/** Converts the catalogue of tools, and what a tenant used of them, to their API form. */
import { quantilesOf } from '../../../core/histogram.ts';
import type { ToolSpec } from '../../../core/model/model.ts';
import { serverOf } from '../../../core/tools/mcp-tool-name.ts';
import { USE_BOUNDS, USE_STATUSES, type ToolUse as Used } from '../../../core/tools/tool-use.ts';
import type { ProcessView } from '../../../db/read/installation/fleet-views.ts';
import { toIso } from '../../request/instant.ts';
import type { Tool, ToolUse } from '../../schemas/system/tool.ts';
import type { About, ToolAbout } from '../../server/about.ts';

type Known = {
  about: About;
  processes: readonly ProcessView[];
  /** As last sent to models of the tenant. */
  sent: readonly ToolSpec[];
  isOperator: boolean;
};

/** Sorted by name. */
export function toTools({ about, processes, sent, isOperator }: Known): Tool[] {
  const servers = about.servers();
  const known = [...about.tools, ...servers.flatMap(({ tools }) => tools ?? [])];
  const numbers = countOf(processes.flatMap((process) => process.tools));
  const ofServers = countOf(processes.flatMap(({ mcpServers }) => mcpServers));
  const names = new Set([...ofServers.keys(), ...servers.map(({ name }) => name)]);
  const tools = new Map(known.map((tool) => [tool.name, toTool(tool, names, about.limits.tool_timeout_ms)]));
  for (const name of numbers.keys())
    if (!tools.has(name)) tools.set(name, { ...unknown(name, names), source: 'elsewhere' });
  for (const { name, description, input_schema } of sent) {
    const tool = tools.get(name) ?? unknown(name, names);
    if (tool.input_schema === null) tools.set(name, { ...tool, description, input_schema });
  }
  return [...tools.values()]
    .map((tool) => {
      const number = tool.server === null ? numbers.get(tool.name) : ofServers.get(tool.server);
      return { ...tool, served: number !== undefined, processes: isOperator ? (number ?? 0) : null };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function countOf(names: readonly string[]): Map<string, number> {
  const numbers = new Map<string, number>();
  for (const name of names) numbers.set(name, (numbers.get(name) ?? 0) + 1);
  return numbers;
}

function toTool(
  { name, source, description, inputSchema, effect, approval, answeredBy, timeoutMs }: ToolAbout,
  servers: ReadonlySet<string>,
  usualMs: number,
): Tool {
  return {
    ...unknown(name, servers),
    source,
    description,
    input_schema: inputSchema,
    effect,
    approval,
    answered_by: answeredBy,
    timeout_ms: answeredBy === 'tool' ? (timeoutMs ?? usualMs) : null,
  };
}

/** A tool of which only the name is known. Tools of clients may have a name as those of MCP servers have. */
function unknown(name: string, servers: ReadonlySet<string>): Tool {
  const prefix = serverOf(name);
  const server = prefix !== null && servers.has(prefix) ? prefix : null;
  return {
    name,
    source: server === null ? 'sent' : 'mcp',
    server,
    description: null,
    input_schema: null,
    effect: null,
    approval: null,
    answered_by: null,
    timeout_ms: null,
    served: false,
    processes: null,
  };
}

export function toUse({ tool, codes, times, lastAt, failures, ...counts }: { tool: string } & Used): ToolUse {
  const { completed, failed, denied, expired, unknown: unknownOnes } = counts;
  let below = 0;
  const buckets = USE_BOUNDS.map((bound, place) => ({ bound, count: (below += times[place] ?? 0) }));
  const found = quantilesOf([buckets]);
  return {
    name: tool,
    calls: USE_STATUSES.reduce((sum, status) => sum + counts[status], 0),
    completed,
    failed,
    denied,
    expired,
    unknown: unknownOnes,
    codes,
    duration_ms: found === null ? null : { p50: Math.round(found.p50), p95: Math.round(found.p95) },
    last_called_at: toIso(lastAt),
    failures: failures.map(({ at, ...failure }) => ({ at: toIso(at), ...failure })),
  };
}
