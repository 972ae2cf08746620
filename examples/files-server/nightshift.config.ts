/**
 * A role that reads and edits the documents of one folder through the MCP server for files. Start it in this folder:
 *
 *   DOCUMENTS=/srv/documents npx nightshift start
 *   curl -s 127.0.0.1:3000/api/workers -H 'content-type: application/json' -d '{"name":"clerk","role":"clerk"}'
 *
 * Read-only tools run at once. `edit_file` is annotated as destructive, so it needs approval.
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
        'You maintain a folder of documents. Read a document before you change it, and change as little as possible.',
      mcp_servers: ['files'],
    },
  },
});
