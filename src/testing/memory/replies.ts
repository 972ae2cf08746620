/** What a person or a client writes to a call that waits. */
import type { ApprovalDecision, OpenCall, Reply } from '../../core/tools/tool-call.ts';
import type { MemoryContext } from './context.ts';

/** No decision has been made whether the call may run. */
export function isUndecided({ wait, approval }: OpenCall): boolean {
  return wait?.for === 'approval' && approval === null;
}

/** A question without an answer, or a call that a client runs and has not reported. */
export function isUnanswered({ status, reply, wait }: OpenCall): boolean {
  return status === 'waiting' && reply === null && wait?.for === 'answer';
}

/** A call that waits for a time. */
export function isAsleep({ status, reply, wait }: OpenCall): boolean {
  return status === 'waiting' && reply === null && wait?.for === 'timer';
}

/** An approved call can run; a denied one waits for its result to be written. */
export function writeDecision(context: MemoryContext, { id }: OpenCall, approval: ApprovalDecision): void {
  context.writeCall(id, (call) =>
    approval.decision === 'approve'
      ? { ...call, status: 'pending' as const, wait: null, approval }
      : { ...call, approval },
  );
}

export function writeReply(context: MemoryContext, { id }: OpenCall, reply: Reply): void {
  context.writeCall(id, (call) => ({ ...call, reply }));
}
