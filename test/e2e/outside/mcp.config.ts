// An config file with MCP servers that note what they do in the folder that OUTSIDE names.
import { defineConfig } from '../../../src/index.ts';
import { scripted } from '../../mcp/known-servers.ts';

export default defineConfig({ mcp_servers: { it: scripted(process.env['OUTSIDE'] ?? '.') } });
