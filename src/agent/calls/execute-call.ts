/** Executes a call with its tool, until the job's deadline at most. Its report ends with it. */
import type { ActiveJob } from '../../core/run/job.ts';
import type { Snapshot } from '../../core/run/snapshot.ts';
import type { ToolInvocation, ToolOutcome } from '../../core/tools/tool.ts';
import type { RunPorts } from '../run.ts';
import { untilDeadline } from '../waits/until-deadline.ts';

/** What a call needs to run. */
export type ExecutionPorts = Pick<RunPorts, 'clock' | 'tools' | 'report' | 'durable'>;

export function executeCall(
  { clock, tools, report, durable }: ExecutionPorts,
  { snapshot, job }: { snapshot: Snapshot; job: ActiveJob },
  invocation: ToolInvocation,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const reported = report(invocation);
  const services = { report: reported, ...durable(invocation, snapshot) };
  return untilDeadline(clock, job, signal, (bounded) => tools.execute(invocation, bounded, services))
    .catch(brokenRunner)
    .finally(() => reported.end());
}

/** Runners do not throw; one that does must not stop the loop. */
function brokenRunner(error: unknown): ToolOutcome {
  const message = error instanceof Error ? error.message : String(error);
  return { kind: 'result', content: `The call could not be run: ${message}`, is_error: true };
}
