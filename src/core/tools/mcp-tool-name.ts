/** Names of MCP tools for models: `server__tool`. */

export const SERVER_SEPARATOR = '__';

/**
 * Null: not the name of an MCP tool. A server name has no separator, so the first separator of a tool name ends the server
 * name.
 */
export function serverOf(tool: string): string | null {
  const at = tool.indexOf(SERVER_SEPARATOR);
  return at < 1 ? null : tool.slice(0, at);
}
