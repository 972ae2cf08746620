// A config file with MCP servers that record their work in the folder of OUTSIDE.
import { defineConfig } from '../../../src/index.ts';
import { scripted } from '../../mcp/known-servers.ts';

export default defineConfig({ mcp_servers: { it: scripted(process.env['OUTSIDE'] ?? '.') } });
