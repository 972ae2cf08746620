/** Messages to the model for MCP calls without a result. */
import type { Effect } from '../../../core/tools/tool.ts';
import type { ToolReply } from '../../registry/tool-context.ts';

function failed(content: string): ToolReply {
  return { content, is_error: true };
}

export function unreachable(server: string): ToolReply {
  return failed(
    `The MCP server ${server} is not responding. The call was not executed. Nightshift is reconnecting; try again later.`,
  );
}

/** The connection was lost during the call, and during all retries. */
export function cut(server: string, effect: Effect): ToolReply {
  return failed(
    effect === 'once'
      ? `Started, outcome unknown: the connection to the MCP server ${server} was lost before it answered. The call may have taken effect. Check before repeating it.`
      : `The connection to the MCP server ${server} was lost before it answered. Repeating the call is safe.`,
  );
}

export function silent(server: string, effect: Effect, ms: number): ToolReply {
  const text = `The call timed out: the MCP server ${server} sent nothing for ${ms / 1_000} s.`;
  return failed(effect === 'once' ? `${text} It may have taken effect. Check before repeating it.` : text);
}

export function refused(server: string, why: string): ToolReply {
  return failed(`The MCP server ${server} refused the call: ${why}`);
}

export function refusedByHttp(server: string, status: number | undefined, callId: string): ToolReply {
  return failed(
    `The MCP server ${server} refused the call (HTTP ${status ?? 'error'}). The operator finds the details in the log under ${callId}.`,
  );
}
