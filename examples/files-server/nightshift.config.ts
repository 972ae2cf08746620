/**
 * A clerk that reads and edits the documents of one folder, through the MCP server for files. Start it beside this file:
 *
 *   DOCUMENTS=/srv/documents npx nightshift start
 *   curl -s 127.0.0.1:3000/api/workers -H 'content-type: application/json' -d '{"name":"clerk","role":"clerk"}'
 *
 * What only reads runs at once. `edit_file` says of itself that it may destroy something: it asks first.
 */
import { defineConfig } from 'nightshift';

export default defineConfig({
  mcp_servers: {
    files: {
      command: 'npx',
      args: ['-y', '@modelcontextprotocol/server-filesystem', process.env['DOCUMENTS'] ?? '.'],
      tools: ['read_text_file', 'list_directory', 'search_files', 'edit_file'],
    },
  },
  roles: {
    clerk: {
      system_prompt:
        'You keep a folder of documents. Read before you change anything, and change as little as you can.',
      mcp_servers: ['files'],
    },
  },
});
