/** Client tools: their descriptors for the model, and their definitions in the config file. */
import type { ClientTool } from '../../core/workers/settings.ts';
import type { ToolDescriptor } from '../../core/tools/tool.ts';
import { fromJsonSchema } from '../registry/input.ts';
import { fault, filledText, members, name, required } from './member.ts';
import type { Member } from './member.ts';

/** The effect is `once`, because it is unknown whether a client tool can run again safely. */
export function describeClientTool(tool: ClientTool): ToolDescriptor {
  return { ...tool, effect: 'once', on_unknown: 'tell', answered_by: 'client' };
}

const SHAPE = { what: "a client's tool", known: ['name', 'description', 'input_schema'] };

export function parseClientTool(member: Member): ClientTool | null {
  const of = members(member, SHAPE);
  if (of === null) return null;
  const toolName = required(of('name'), name);
  const description = required(of('description'), filledText);
  const schema = of('input_schema');
  if (toolName === null || description === null) return null;
  const input = fromJsonSchema(schema.value);
  if (!input.ok) return fault({ ...schema, path: `${schema.path}${input.at}` }, input.problem);
  return { name: toolName, description, input_schema: input.schema };
}
