// An config file with a server of tools, which keeps what it knows beside the folder EFFECTS.
import { defineConfig } from '../../../src/index.ts';
import { memory } from '../../mcp/known-servers.ts';

export default defineConfig({
  mcp_servers: { notes: memory(`${process.env['EFFECTS'] ?? '.'}.json`) },
  roles: { keeper: { model: 'simulated/keeper', tools: ['remember'] } },
});
