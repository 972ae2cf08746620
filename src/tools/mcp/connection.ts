/**
 * One connection to an MCP server, from its first word to its end. What is declared of us is all that is done:
 * elicitation by form; no roots, no sampling.
 */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolResultSchema,
  ListToolsResultSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { CallToolResult, Tool as McpTool } from '@modelcontextprotocol/sdk/types.js';
import type { JsonObject } from '../../core/json.ts';
import { ChildTransport } from './child.ts';
import { answerQuestions, capabilitiesOf } from './elicitation.ts';
import type { ServerSettings } from './server-settings.ts';

/** Tools of one server; those beyond are not asked for. */
const MOST_TOOLS = 500;
const MOST_PAGES = 50;

/** How long a server that is otherwise well may take over a word, in milliseconds. */
const PING_MS = 10_000;

export type Receivers = {
  /** The server's tools are others now. */
  changed(): void;
  /** An exchange over HTTP went wrong: of a call in flight it is not known whether it will ever be answered. */
  troubled(): void;
  /** What it writes for people. */
  remarked(words: string): void;
};

export type CallOptions = { signal: AbortSignal; progress: (text: string) => void };

export type Connection = {
  tools(): Promise<McpTool[]>;
  /** Rejects where no result came (see `fateOf`), and when `signal` is aborted: the server is told. */
  call(tool: string, input: JsonObject, options: CallOptions): Promise<CallToolResult>;
  /** Rejects where it does not answer. */
  ping(): Promise<void>;
  readonly isOver: boolean;
  /** Resolves when it is over, by whosever doing. */
  ended: Promise<void>;
  /** Never rejects. */
  close(): Promise<void>;
};

/** Resolves once the server has introduced itself, within its time to start. */
export async function connect(
  settings: ServerSettings,
  version: string,
  receivers: Receivers,
  signal: AbortSignal,
): Promise<Connection> {
  const { elicitation, startTimeoutMs, timeoutMs } = settings;
  const client = new Client({ name: 'nightshift', version }, { capabilities: capabilitiesOf(elicitation) });
  answerQuestions(client, elicitation);
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => receivers.changed());
  const transport = openTransport(settings, receivers);
  const ended = Promise.withResolvers<void>();
  let isOver = false;
  const end = (): void => {
    isOver = true;
    ended.resolve();
  };
  // Before the client's own: what is rejected because of it must find it over.
  Object.assign(transport, { onclose: end });
  const trouble = (error: Error): void => {
    receivers.remarked(error.message);
    if (settings.reach.kind === 'http') receivers.troubled();
  };
  Object.assign(client, { onerror: trouble });
  const close = async (): Promise<void> => {
    await client.close().catch(() => undefined);
    end();
  };
  try {
    await client.connect(transport, { timeout: startTimeoutMs, signal });
  } catch (error) {
    await close();
    throw error;
  }
  return {
    tools: () => listTools(client, { timeout: startTimeoutMs, signal }),
    call: (name, input, { signal: given, progress }) =>
      client.request({ method: 'tools/call', params: { name, arguments: input } }, CallToolResultSchema, {
        signal: given,
        timeout: timeoutMs,
        resetTimeoutOnProgress: true,
        onprogress: (told) => progress(wordsOf(told)),
      }),
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
      return new ChildTransport(reach, (words) => receivers.remarked(words));
    case 'http':
      // A redirect is followed within the server's own origin only: the headers hold keys.
      return new StreamableHTTPClientTransport(new URL(reach.url), {
        requestInit: { headers: reach.headers },
      });
  }
}

async function listTools(client: Client, options: RequestOptions): Promise<McpTool[]> {
  // One that has no tools need not know the question.
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

function wordsOf({
  progress,
  total,
  message,
}: {
  progress: number;
  total?: number | undefined;
  message?: string | undefined;
}): string {
  const far = total === undefined ? `${progress}` : `${progress} of ${total}`;
  return message === undefined ? far : `${far}: ${message}`;
}
