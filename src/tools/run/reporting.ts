/** `log` and `progress` of a tool. They never throw, and do nothing once the call has ended. */
import type { CallReport, EntryLevel } from '../../core/tools/report.ts';
import type { ToolInvocation } from '../../core/tools/tool.ts';
import type { ToolContext } from '../registry/tool-context.ts';
import { loggedIds } from './facts.ts';
import type { ToolLog } from './tool-log.ts';

export type Reporting = Pick<ToolContext, 'log' | 'progress'>;

/** `isOver`: whether the call has ended. The process log gets one warning about a tool that still reports then. */
export function reportingOf(
  call: ToolInvocation,
  report: CallReport,
  isOver: () => boolean,
  log: ToolLog | undefined,
): Reporting {
  let hasWarned = false;
  const take = (work: () => void): void => {
    if (!isOver()) return work();
    if (!hasWarned) log?.warn(loggedIds(call), 'a tool reported after its call had ended; its reports are dropped');
    hasWarned = true;
  };
  const at =
    (level: EntryLevel) =>
    (message: unknown, fields?: unknown): void =>
      take(() => report.log(level, message, fields));
  return {
    log: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') },
    progress: (given: unknown) => take(() => report.progress(given)),
  };
}
