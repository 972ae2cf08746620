/**
 * What is offered of a server that never said what tools it has, once it had its time to: one tool, so that the model can
 * tell why it lacks the others.
 */
import { fromJsonSchema } from '../input.ts';
import type { Tool } from '../tool.ts';
import { toolName } from './names.ts';
import { unreachable } from './words.ts';

export function standIn(server: string): Tool {
  const input = fromJsonSchema({ type: 'object', properties: {} });
  if (!input.ok) throw new Error(input.problem);
  return {
    descriptor: {
      name: toolName(server, 'unavailable'),
      description: `Stands for the tools of the MCP server ${server}, which does not answer: they cannot be used now. Where the task needs them, say so.`,
      input_schema: input.schema,
      effect: 'none',
      on_unknown: 'tell',
      answered_by: 'tool',
    },
    approval: 'never',
    timeoutMs: null,
    validate: input.validate,
    execute: () => unreachable(server),
  };
}
