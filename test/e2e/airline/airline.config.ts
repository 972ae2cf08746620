// A config file with the airline's tools: each gets its result from the tool server, over HTTP.
import { defineConfig, type JsonSchemaTool } from '../../../src/index.ts';
import { readTools } from './airline.ts';

const toolServer = process.env['AIRLINE_TOOL_SERVER'] ?? '';

/** Calls with an effect must not be repeated. */
const isWrite = (name: string): boolean => /^(book|cancel|update|send|transfer)_/.test(name);

const tools = readTools().map((tool): JsonSchemaTool => ({
  ...tool,
  effect: isWrite(tool.name) ? 'once' : 'none',
  async execute(input, { context_id, tool_call_id, signal }) {
    const response = await fetch(toolServer, {
      method: 'POST',
      body: JSON.stringify({ name: tool.name, input, context_id, tool_call_id }),
      signal,
    });
    const content = await response.text();
    return { content, is_error: !response.ok };
  },
}));

export default defineConfig({ tools });
