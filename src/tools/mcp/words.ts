/** What a model is told where a call of an MCP tool brought no result. */
import type { Effect } from '../../core/tool.ts';
import type { ToolReply } from '../define.ts';

function failed(content: string): ToolReply {
  return { content, is_error: true };
}

export function unreachable(server: string): ToolReply {
  return failed(
    `The MCP server ${server} does not answer: the call did not run. It is being connected to again; try later.`,
  );
}

/** In the middle of the call, and as often as it was repeated. */
export function cut(server: string, effect: Effect): ToolReply {
  return failed(
    effect === 'once'
      ? `Started, outcome unknown: the MCP server ${server} was lost before it answered. It may have happened. Check before repeating it.`
      : `The MCP server ${server} was lost before it answered. Nothing that matters was changed, or repeating it is safe.`,
  );
}

export function silent(server: string, effect: Effect, ms: number): ToolReply {
  const text = `The MCP server ${server} said nothing for ${ms / 1_000} s: the call was given up.`;
  return failed(effect === 'once' ? `${text} It may have had its effect. Check before repeating it.` : text);
}

export function refused(server: string, why: string): ToolReply {
  return failed(`The MCP server ${server} refused the call: ${why}`);
}

export function refusedByHttp(server: string, status: number | undefined, callId: string): ToolReply {
  return failed(
    `The MCP server ${server} refused the call (HTTP ${status ?? 'error'}). The operator can look it up: ${callId}.`,
  );
}
