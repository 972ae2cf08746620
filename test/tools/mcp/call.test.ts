// The text that a model and the tenant get of a call that an MCP server refuses.
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import type { ToolContext } from '../../../src/tools/registry/tool-context.ts';
import { callOn } from '../../../src/tools/mcp/calls/call.ts';
import { CurrentConnection } from '../../../src/tools/mcp/connection/current-connection.ts';

/** A server that continues. */
const NEVER = new Promise<void>(() => undefined);

async function refusedWith(error: Error, traceparent: string | null = null) {
  const logged: unknown[] = [];
  const sent: JsonObject[] = [];
  const current = new CurrentConnection();
  current.set({
    tools: async () => [],
    call: async ({ meta }) => {
      sent.push(meta);
      throw error;
    },
    ping: async () => undefined,
    isOver: false,
    ended: NEVER,
    close: async () => undefined,
  });
  const line = {
    name: 'it',
    timeoutMs: 1_000,
    startsForMs: () => 0,
    current,
    log: {
      warn: (fields: object) => void logged.push({ level: 'warn', ...fields }),
      debug: (fields: object) => void logged.push({ level: 'debug', ...fields }),
    },
    began: () => undefined,
    ended: () => undefined,
    watch: {
      called: () => undefined,
      failed: () => undefined,
      up: () => undefined,
      restarted: () => undefined,
      instances: () => undefined,
      ready: () => undefined,
    },
  };
  const context: ToolContext = {
    signal: new AbortController().signal,
    idempotency_key: 'i',
    traceparent,
    tenant: 't',
    metadata: {},
    user: null,
    worker: { id: 'w', name: 'w', role: null },
    attempt: 1,
    tool_call_id: 'call-1',
    job_id: 'j',
    worker_id: 'w',
    context_id: 'c',
    log: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
    progress: () => undefined,
    step: async () => expect.fail('MCP tools have no steps'),
    spawn: async () => expect.fail('MCP tools have no steps'),
    enqueue: async () => expect.fail('MCP tools have no steps'),
  };
  return { reply: await callOn(line, { own: 'echo', effect: 'none', input: {}, context }), logged, sent };
}

test('the place in a trace is sent only if there is one', async () => {
  const place = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`;
  const error = new McpError(ErrorCode.InvalidParams, 'no such city');
  expect((await refusedWith(error, place)).sent).toEqual([expect.objectContaining({ traceparent: place })]);
  const [meta] = (await refusedWith(error)).sent;
  expect(meta).toMatchObject({ 'nightshift/job_id': 'j' });
  expect(meta).not.toHaveProperty('traceparent');
});

test("in its own answer is the server's text, as an error of a tool is", async () => {
  const { reply, logged } = await refusedWith(new McpError(ErrorCode.InvalidParams, 'no such city'));
  expect(reply).toEqual({
    content: 'The MCP server it refused the call: MCP error -32602: no such city',
    is_error: true,
  });
  expect(logged).toEqual([]);
});

test.each([400, 401, 403, 429])(
  'by HTTP %i is a reference: the body may be of any server on the way',
  async (status) => {
    const error = new StreamableHTTPError(status, 'Error POSTing to endpoint: x-key: sk-secret');
    const { reply, logged } = await refusedWith(error);
    expect(reply).toEqual({
      content: `The MCP server it refused the call (HTTP ${status}). The operator finds the details in the log under call-1.`,
      is_error: true,
    });
    expect(logged).toEqual([
      { level: 'warn', mcp_server: 'it', tool: 'echo', tool_call_id: 'call-1', status },
      expect.objectContaining({
        level: 'debug',
        tool_call_id: 'call-1',
        fault: expect.stringContaining('sk-secret'),
      }),
    ]);
  },
);
