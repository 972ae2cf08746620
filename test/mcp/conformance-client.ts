// The client that `conformance client` starts: our own connection, over HTTP, to the address in its last argument.
// Lists the tools and calls each with arguments made from its schema.
import { setTimeout } from 'node:timers/promises';
import type { JsonObject } from '../../src/core/json.ts';
import { connect } from '../../src/tools/mcp/connection/connection.ts';
import { parseConfigFile } from '../../src/tools/config/parse-config.ts';
import { PLACEHOLDERS } from '../../src/tools/packages/secrets.ts';

const url = process.argv.at(-1);
const parsed = parseConfigFile({ mcp_servers: { it: { url, elicitation: 'defaults' } } }, PLACEHOLDERS);
const settings = parsed.ok ? parsed.settings.mcpServers.get('it') : undefined;
if (settings === undefined) throw new Error(parsed.ok ? 'no server' : parsed.faults.join('\n'));

const quiet = {
  changed: () => undefined,
  connectionFailed: () => undefined,
  failed: () => undefined,
  logged: () => undefined,
};
const connection = await connect(settings, '0', quiet, new AbortController().signal);
for (const tool of await connection.tools()) {
  const options = { signal: AbortSignal.timeout(10_000), progress: () => undefined };
  const result = await connection.call(
    { name: tool.name, input: argumentsOf(tool.inputSchema.properties ?? {}), meta: {} },
    options,
  );
  process.stdout.write(`${tool.name}: ${JSON.stringify(result.content)}\n`);
}
// The stream beside the requests is opened after the handshake; some scenarios check it.
await setTimeout(200);
await connection.close();

function argumentsOf(properties: Record<string, object>): JsonObject {
  const valueOf = (schema: object) => ('type' in schema && schema.type === 'number' ? 2 : 'two');
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, valueOf(schema)]));
}
