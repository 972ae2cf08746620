// A config file with an MCP server, which stores its data beside the folder EFFECTS.
import { defineConfig } from '../../../src/index.ts';
import { memory } from '../../mcp/known-servers.ts';

export default defineConfig({
  mcp_servers: { notes: memory(`${process.env['EFFECTS'] ?? '.'}.json`) },
  roles: { keeper: { model: 'simulated/keeper', tools: ['remember'] } },
});
