/** What the schema of a role cannot express: its models, tools and servers must exist, and names must be unique. */
import type { Static } from 'typebox';
import { parseModelName } from '../../core/model/model.ts';
import { clientToolNameFaults } from '../../schema/client-tool-names.ts';
import type { FileRole } from '../../schema/config.ts';
import { faultAt, type Fault, type Path } from '../../schema/fault.ts';
import { NAME } from '../../schema/patterns.ts';
import { serverOf } from '../../core/tools/mcp-tool-name.ts';
import { fromJsonSchema } from '../registry/input.ts';
import { jsonCopy } from '../run/json-copy.ts';
import { MODEL } from './file-validator.ts';
import { readOutputSchema } from './sections/output-schema.ts';
import type { Pruned } from './prune.ts';

type Role = Pruned<Static<typeof FileRole>>;

/** The tool and server names that a role may use. */
type Known = { tools: ReadonlySet<string>; servers: ReadonlySet<string> };

export function roleFaults(role: Role, known: Known, at: Path): Fault[] {
  const { model, tools = [], client_tools = [], mcp_servers = [], compaction, parameters, output_schema } = role;
  return [
    ...modelFaults(model, [...at, 'model']),
    ...modelFaults(compaction?.model, [...at, 'compaction', 'model']),
    ...tools.flatMap((name, index) => unknownTool(name, known, [...at, 'tools', index])),
    ...clientToolNameFaults(client_tools, (name) => known.tools.has(name), [...at, 'client_tools']),
    ...client_tools.flatMap((tool, index) => inputFaults(tool, [...at, 'client_tools', index])),
    ...outputFaults(output_schema, [...at, 'output_schema']),
    ...mcp_servers.flatMap((name, index) => unknownServer(name, known.servers, [...at, 'mcp_servers', index])),
    ...(parameters === undefined || jsonCopy(parameters) !== null
      ? []
      : [faultAt([...at, 'parameters'], 'must be a plain JSON object')]),
  ];
}

function modelFaults(name: string | undefined, at: Path): Fault[] {
  if (name === undefined || parseModelName(name) !== null) return [];
  return [faultAt(at, `must be ${MODEL}, not ${JSON.stringify(name)}`)];
}

const TOOL_NAME = new RegExp(NAME);

function unknownTool(name: string | undefined, { tools, servers }: Known, at: Path): Fault[] {
  if (name === undefined || tools.has(name)) return [];
  // The tools of a server are unknown until it is connected.
  if (servers.has(serverOf(name) ?? '') && TOOL_NAME.test(name)) return [];
  return [faultAt(at, `no tool has the name ${JSON.stringify(name)}. Known tools: ${listed(tools)}`)];
}

function unknownServer(name: string | undefined, servers: ReadonlySet<string>, at: Path): Fault[] {
  if (name === undefined || servers.has(name)) return [];
  return [faultAt(at, `no MCP server has the name ${JSON.stringify(name)}. Known servers: ${listed(servers)}`)];
}

function listed(names: ReadonlySet<string>): string {
  return [...names].sort().join(', ') || 'none';
}

function inputFaults(tool: { input_schema?: unknown } | undefined, at: Path): Fault[] {
  if (tool?.input_schema === undefined) return [];
  const input = fromJsonSchema(tool.input_schema);
  return input.ok ? [] : [faultAt([...at, 'input_schema', ...input.at], input.problem)];
}

function outputFaults(schema: unknown, at: Path): Fault[] {
  const read = schema === undefined ? null : readOutputSchema(schema, at);
  return read === null || read.ok ? [] : read.faults;
}
