/** Executes a call with its tool, until the job's deadline at most. */
import type { ActiveJob } from '../../core/run/job.ts';
import type { ToolInvocation, ToolOutcome } from '../../core/tools/tool.ts';
import type { RunPorts } from '../run.ts';
import { untilDeadline } from '../waits/until-deadline.ts';

export function executeCall(
  { clock, tools }: Pick<RunPorts, 'clock' | 'tools'>,
  job: ActiveJob,
  invocation: ToolInvocation,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  return untilDeadline(clock, job, signal, (bounded) => tools.execute(invocation, bounded)).catch(brokenRunner);
}

/** Runners do not throw; one that does must not stop the loop. */
function brokenRunner(error: unknown): ToolOutcome {
  const message = error instanceof Error ? error.message : String(error);
  return { kind: 'result', content: `The call could not be run: ${message}`, is_error: true };
}
