/** Placeholders for tools of a server that does not respond. */
import { validateByOwn } from '../registry/input.ts';
import type { Tool } from '../registry/tool.ts';
import type { ServerSettings } from './settings/server-settings.ts';
import { toolName } from './calls/names.ts';
import { unreachable } from './calls/failures.ts';

const ANYTHING = { type: 'object', properties: {} };

/**
 * For all tools of a server that did not list them within its start timeout. It tells the model why the other tools are
 * missing.
 */
export function standIn(server: string): Tool {
  return {
    descriptor: {
      name: toolName(server, 'unavailable'),
      description: `Placeholder for the tools of the MCP server ${server}, which is not responding. Its tools are unavailable now. If the task needs them, tell the user.`,
      input_schema: ANYTHING,
      effect: 'none',
      on_unknown: 'tell',
      answered_by: 'tool',
    },
    timeoutMs: null,
    validate: validateByOwn(ANYTHING),
    execute: () => unreachable(server),
  };
}

/**
 * For a tool that an earlier instance offered, while this one has not listed its tools. Whether the tool needs approval
 * is not known, so it does, unless the operator has decided.
 */
export function notListed({ name, approval }: ServerSettings, tool: string): Tool {
  const missing = standIn(name);
  return { ...missing, descriptor: { ...missing.descriptor, name: tool }, approval: approval ?? 'always' };
}
