/** Which tools the model is offered. Pure. */
import type { ToolDescriptor } from '../tools/tool.ts';
import type { ClientTool, Mode } from './settings.ts';

/**
 * Sorted by name. A platform tool replaces a client tool of the same name. In plan mode only tools without effect are
 * offered.
 */
export function offeredTools(
  ours: readonly ToolDescriptor[],
  theirs: readonly ClientTool[],
  mode: Mode,
): ToolDescriptor[] {
  const others = theirs.filter(({ name }) => !ours.some((tool) => tool.name === name));
  return [...ours, ...others.map(describeClientTool)]
    .filter(({ effect }) => mode === 'act' || effect === 'none')
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The effect is `once`, because it is unknown whether a client tool can run again safely. */
export function describeClientTool(tool: ClientTool): ToolDescriptor {
  return { ...tool, effect: 'once', on_unknown: 'tell', answered_by: 'client' };
}
