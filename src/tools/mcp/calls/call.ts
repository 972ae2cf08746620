/**
 * One call of an MCP tool, on the current connection or the next one. If the server is lost during the call, the effect
 * decides: repeatable calls are retried a few times; the outcome of a `once` call is unknown.
 */
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Effect } from '../../../core/tools/tool.ts';
import type { ToolContext, ToolReply } from '../../registry/tool-context.ts';
import { faultText } from '../../run/fault.ts';
import { jsonCopy } from '../../run/json-copy.ts';
import type { CallEnd, ServerWatch } from '../../registry/servers.ts';
import type { ToolLog } from '../../run/tool-log.ts';
import { classifyFailure } from './classify-failure.ts';
import type { CurrentConnection } from '../connection/current-connection.ts';
import { toReply } from './to-reply.ts';
import { cut, refused, refusedByHttp, silent, unreachable } from './failures.ts';

/** How long a call waits for a disconnected server, in milliseconds. */
const WAIT_MS = 5_000;

/** The maximum number of attempts for a repeatable call. */
const MOST_TRIES = 3;

/** What a call needs to know about its server. */
export type Line = {
  name: string;
  timeoutMs: number;
  /** How long it may still take to start, in milliseconds. */
  startsForMs(): number;
  current: CurrentConnection;
  began(): void;
  ended(): void;
  watch: ServerWatch;
  log: ToolLog;
};

/** What a server learns about the caller: the `_meta` of the request, under names with our prefix. */
function metaOf(context: ToolContext) {
  const { tenant, user, metadata, idempotency_key, tool_call_id, job_id, attempt, worker_id, context_id } = context;
  const { name: worker_name, role } = context.worker;
  const ids = { idempotency_key, tool_call_id, job_id, attempt, worker_id, worker_name, role, context_id };
  const facts = { tenant, user, metadata, ...ids };
  const ours = Object.fromEntries(Object.entries(facts).map(([name, value]) => [`nightshift/${name}`, value]));
  const { traceparent } = context;
  // This name is reserved by the protocol.
  return traceparent === null ? ours : { ...ours, traceparent };
}

/** `own`: the server's own name of the tool. */
export type McpCall = { own: string; effect: Effect; input: unknown; context: ToolContext };

/** Rejects only when `context.signal` is aborted. */
export async function callOn(line: Line, call: McpCall): Promise<ToolReply> {
  line.began();
  try {
    const { reply, end } = await tryOften(line, call);
    line.watch.called(line.name, end);
    return reply;
  } catch (error) {
    line.watch.called(line.name, { outcome: 'aborted' });
    throw error;
  } finally {
    line.ended();
  }
}

type Ended = { reply: ToolReply; end: CallEnd };

async function tryOften(line: Line, { own, effect, input, context }: McpCall): Promise<Ended> {
  let lost: Ended = { reply: unreachable(line.name), end: { outcome: 'unreachable' } };
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const connection = await line.current.wait(Math.max(WAIT_MS, line.startsForMs()), context.signal);
    if (connection === null) return lost;
    const began = performance.now();
    try {
      const result = await connection.call({ name: own, input: jsonCopy(input) ?? {}, meta: metaOf(context) }, context);
      return { reply: toReply(result), end: answered(result.isError === true ? 'failed' : 'completed', began) };
    } catch (error) {
      context.signal.throwIfAborted();
      const failure = classifyFailure(error, connection.isOver);
      switch (failure) {
        case 'refused':
          return { reply: refusalOf(line, own, error, context), end: answered('failed', began) };
        case 'silent':
          return { reply: silent(line.name, effect, line.timeoutMs), end: { outcome: 'timed_out' } };
        case 'not_sent':
          break;
        case 'cut':
          lost = { reply: cut(line.name, effect), end: { outcome: 'cut' } };
          break;
      }
      // The connection is unusable: close it, so that a new one is opened.
      await connection.close(error);
      if (failure === 'cut' && effect === 'once') return lost;
    }
  }
  return lost;
}

/** `began`: when the request that was answered was sent. */
function answered(outcome: 'completed' | 'failed', began: number): CallEnd {
  return { outcome, ms: performance.now() - began };
}

/**
 * Errors from the server itself are passed to the model. The body of an HTTP error may come from a gateway and contain
 * internal addresses or our headers, so the model and the tenant get only a reference; the operator's log has the
 * details.
 */
function refusalOf({ name, log }: Line, own: string, error: unknown, { tool_call_id }: ToolContext): ToolReply {
  if (!(error instanceof StreamableHTTPError)) return refused(name, faultText(error));
  const of = { mcp_server: name, tool: own, tool_call_id };
  log.warn({ ...of, status: error.code }, 'an MCP server refused a call');
  log.debug({ ...of, fault: faultText(error) }, 'details of the refused MCP call');
  return refusedByHttp(name, error.code, tool_call_id);
}
