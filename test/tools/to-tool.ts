/** The tool that the config file makes of a definition. */
import type { ToolDefinition } from '../../src/index.ts';
import { parseConfigFile } from '../../src/tools/config/parse-config.ts';
import { PLACEHOLDERS } from '../../src/tools/packages/secrets.ts';
import type { Tool } from '../../src/tools/registry/tool.ts';

/** Throws if it is invalid. */
export function toTool(definition: ToolDefinition): Tool {
  const parsed = parseConfigFile({ tools: [definition] }, PLACEHOLDERS);
  const tool = parsed.ok ? parsed.settings.tools[0] : undefined;
  if (tool === undefined) throw new Error(`Invalid tool: ${parsed.ok ? '' : parsed.faults.join(' ')}`);
  return tool;
}
