// The tools of an MCP server are in prompts in one order and with one text, so that a restart of the worker process and
// of the server does not lose the provider's prompt cache.
import { afterEach, expect, test } from 'vitest';
import { isJsonObject, type Json, type JsonObject } from '../../src/core/json.ts';
import { startFakeProvider, type FakeProvider, type FakeRequest } from '../llm/fake-provider.ts';
import { expectPrefixes } from '../workers/prompts/prompts.ts';
import { openMcpPlatform, type McpPlatform } from './mcp-platform.ts';
import { scripted } from './known-servers.ts';

let platform: McpPlatform | null = null;
let provider: FakeProvider | null = null;
afterEach(async () => {
  await platform?.close();
  await provider?.close();
  [platform, provider] = [null, null];
});

/** One call, then the answer. */
function reply({ entries }: FakeRequest) {
  return entries.at(-1)?.role === 'user'
    ? { toolCalls: [{ name: 'it__echo', arguments: { text: 'hello' } }] }
    : { text: 'It said hello.' };
}

/** Of a tool in any of the three formats. */
function described(tool: JsonObject): { name: Json | undefined; schema: Json | undefined } {
  const of = isJsonObject(tool['function']) ? tool['function'] : tool;
  return { name: of['name'], schema: of['input_schema'] ?? of['parameters'] };
}

function toolsOf({ body }: FakeRequest): ReturnType<typeof described>[] {
  const { tools } = body;
  return Array.isArray(tools) ? tools.filter(isJsonObject).map(described) : [];
}

test.each(['anthropic', 'openai', 'openai-chat'])(
  'tools are sorted, and schemas keep the order of their members, over a restart with another order: %s',
  async (name) => {
    const fake = await startFakeProvider(reply);
    provider = fake;
    const opened = await openMcpPlatform(
      (folder) => {
        const { command, args } = scripted(folder);
        return { it: { command, args: [...args, 'reorder'] } };
      },
      {
        ANTHROPIC_API_KEY: 'test',
        ANTHROPIC_BASE_URL: fake.anthropicURL,
        OPENAI_API_KEY: 'test',
        OPENAI_BASE_URL: fake.openaiURL,
      },
    );
    platform = opened;
    const { client } = opened;
    const context = await client.createContext({ model: `${name}/some-model`, mcp_servers: ['it'] });
    const say = async (text: string): Promise<void> => {
      const { job_id } = await client.post(context.id, text);
      expect(await client.ended(job_id)).toMatchObject({ status: 'completed' });
    };
    await say('one');
    await opened.replaceWorker();
    await say('two');
    // A process that stood still for a second loses its lease, and the next run sends the same prompt again.
    expect(new Set(fake.requests.map(({ entries }) => entries.length)).size).toBe(4);
    expectPrefixes(fake.requests);
    const [request] = fake.requests;
    const tools = request === undefined ? [] : toolsOf(request);
    const names = tools.map((tool) => JSON.stringify(tool.name));
    expect(names.length).toBeGreaterThan(10);
    expect(names).toEqual(names.toSorted());
    const schema = tools.find((tool) => tool.name === 'it__echo')?.schema;
    expect(JSON.stringify(schema)).toContain(
      '"properties":{"text":{"type":"string"},"loud":{"type":"boolean","description":"In capitals."},"again":{"type":"integer","minimum":1,"default":1}}',
    );
  },
);
