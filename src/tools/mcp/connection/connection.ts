/**
 * One connection to an MCP server. The declared capabilities are all that is supported: elicitation by form; no roots,
 * no sampling.
 */
import pTimeout from 'p-timeout';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolResultSchema,
  ListToolsResultSchema,
  ToolListChangedNotificationSchema,
  type CallToolResult,
  type Tool as McpTool,
} from '@modelcontextprotocol/sdk/types.js';
import type { JsonObject } from '../../../core/json.ts';
import type { ServerFailure } from '../../../core/tools/server-failure.ts';
import type { ToolContext } from '../../registry/tool-context.ts';
import { ChildTransport } from './child.ts';
import { classifyEnd } from './classify-end.ts';
import { answerQuestions, capabilitiesOf } from '../calls/elicitation.ts';
import type { ServerSettings } from '../settings/server-settings.ts';

/** Maximum tools of one server; further pages are not requested. */
const MOST_TOOLS = 500;
const MOST_PAGES = 50;

/** The timeout of a ping, and of the request that ends a session, in milliseconds. */
const PING_MS = 10_000;
const END_MS = 1_000;

export type Receivers = {
  /** The server's list of tools has changed. */
  changed(): void;
  /** An HTTP exchange failed; calls in flight may never be answered. */
  connectionFailed(): void;
  /** The connection could not be made, or it has ended. Called at most once. */
  failed(failure: ServerFailure): void;
  /** A diagnostic message of the server. */
  logged(text: string): void;
};

type CallOptions = Pick<ToolContext, 'signal' | 'progress'>;

/** A call of a tool by the server's own name. `meta`: what the server learns beside the arguments. */
type ToolCall = { name: string; input: JsonObject; meta: JsonObject };

export type Connection = {
  tools(): Promise<McpTool[]>;
  /** Rejects if no result arrived (see `classifyFailure`) and when `signal` is aborted; then the server is notified. */
  call(call: ToolCall, options: CallOptions): Promise<CallToolResult>;
  /** Rejects if the server does not respond. */
  ping(): Promise<void>;
  readonly isOver: boolean;
  /** Resolves when the connection has ended for any reason. */
  ended: Promise<void>;
  /** `because`: the error of the request for which the connection is closed. Never rejects. */
  close(because?: unknown): Promise<void>;
};

/** Resolves after the initialization of the server, within its start timeout. */
export async function connect(
  settings: ServerSettings,
  version: string,
  receivers: Receivers,
  signal: AbortSignal,
): Promise<Connection> {
  const { elicitation, sendsCaller, startTimeoutMs, timeoutMs } = settings;
  const client = new Client({ name: 'nightshift', version }, { capabilities: capabilitiesOf(elicitation) });
  answerQuestions(client, elicitation);
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => receivers.changed());
  const transport = openTransport(settings, receivers);
  const ended = Promise.withResolvers<void>();
  let isOver = false;
  let isConnected = false;
  let closedFor: unknown;
  const ofProcess = (): ServerFailure | null => (transport instanceof ChildTransport ? transport.failure : null);
  const end = (): void => {
    if (isConnected && !isOver) receivers.failed(classifyEnd(closedFor, ofProcess()));
    isOver = true;
    ended.resolve();
  };
  // Set before the client's own handler, so that rejected calls see `isOver`.
  Object.assign(transport, { onclose: end });
  const trouble = (error: Error): void => {
    receivers.logged(error.message);
    if (settings.reach.kind === 'http') receivers.connectionFailed();
  };
  Object.assign(client, { onerror: trouble });
  const close = async (because?: unknown): Promise<void> => {
    closedFor ??= because;
    if (!isOver && transport instanceof StreamableHTTPClientTransport)
      await pTimeout(transport.terminateSession(), { milliseconds: END_MS }).catch(() => undefined);
    await client.close().catch(() => undefined);
    end();
  };
  try {
    await client.connect(transport, { timeout: startTimeoutMs, signal });
    if (isOver) throw new Error('The MCP server ended while it started.');
    isConnected = true;
  } catch (error) {
    await close();
    receivers.failed(classifyEnd(error, ofProcess()));
    throw error;
  }
  return {
    tools: () => listTools(client, { timeout: startTimeoutMs, signal }),
    call: ({ name, input, meta }, options) =>
      callTool(client, { name, arguments: input, ...(sendsCaller && { _meta: meta }) }, { ...options, timeoutMs }),
    async ping() {
      await client.ping({ timeout: PING_MS });
    },
    get isOver() {
      return isOver;
    },
    ended: ended.promise,
    close,
  };
}

function openTransport({ reach }: ServerSettings, receivers: Receivers): Transport {
  switch (reach.kind) {
    case 'stdio':
      return new ChildTransport(reach, (text) => receivers.logged(text));
    case 'http':
      // The client follows redirects only within the origin of the server, because the headers contain keys.
      return new StreamableHTTPClientTransport(new URL(reach.url), {
        requestInit: { headers: reach.headers },
      });
  }
}

function callTool(
  client: Client,
  params: { name: string; arguments: JsonObject; _meta?: JsonObject },
  { signal, progress, timeoutMs }: CallOptions & { timeoutMs: number },
): Promise<CallToolResult> {
  return client.request({ method: 'tools/call', params }, CallToolResultSchema, {
    signal,
    timeout: timeoutMs,
    resetTimeoutOnProgress: true,
    onprogress: ({ message, progress: done, total }) => progress({ message, done, total }),
  });
}

async function listTools(client: Client, options: RequestOptions): Promise<McpTool[]> {
  // A server without tools need not implement tools/list.
  if (client.getServerCapabilities()?.tools === undefined) return [];
  const found: McpTool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES && found.length < MOST_TOOLS; page += 1) {
    const params = cursor === undefined ? {} : { cursor };
    const listed = await client.request({ method: 'tools/list', params }, ListToolsResultSchema, options);
    found.push(...listed.tools);
    cursor = listed.nextCursor;
    if (cursor === undefined) break;
  }
  return found.slice(0, MOST_TOOLS);
}
