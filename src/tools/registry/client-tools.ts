/** The descriptors of client tools for the model. */
import type { ToolDescriptor } from '../../core/tools/tool.ts';
import type { ClientTool } from '../../core/workers/settings.ts';

/** The effect is `once`, because it is unknown whether a client tool can run again safely. */
export function describeClientTool(tool: ClientTool): ToolDescriptor {
  return { ...tool, effect: 'once', on_unknown: 'tell', answered_by: 'client' };
}
