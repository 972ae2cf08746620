/** The single tool of all runs, as an MCP server over stdio. */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { LOOK, look } from '../tool.ts';

const { name, description } = LOOK;
const inputSchema = {
  type: 'object' as const,
  properties: LOOK.parameters.properties,
  required: LOOK.parameters.required,
};
const tools = [{ name, description, inputSchema, annotations: { readOnlyHint: true } }];

const server = new Server({ name: 'bench', version: '1' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
server.setRequestHandler(CallToolRequestSchema, ({ params }) => ({
  content: [{ type: 'text', text: look(params.arguments) }],
}));
await server.connect(new StdioServerTransport());
