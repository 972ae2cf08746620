/** The statuses and states of the API, in words and colours. One that is not known yet is shown as it is. */
import { Badge } from './badge.tsx';
import type { Tone } from './badge.tsx';

type Shown = { label: string; tone: Tone; live?: true };

const SHOWN: Readonly<Record<string, Shown>> = {
  // Jobs.
  queued: { label: 'Queued', tone: 'neutral' },
  running: { label: 'Running', tone: 'blue', live: true },
  waiting: { label: 'Waiting', tone: 'amber' },
  completed: { label: 'Completed', tone: 'green' },
  incomplete: { label: 'Incomplete', tone: 'amber' },
  failed: { label: 'Failed', tone: 'red' },
  cancelled: { label: 'Cancelled', tone: 'neutral' },
  interrupted: { label: 'Interrupted', tone: 'neutral' },
  // Tool calls, beyond those.
  pending: { label: 'Pending', tone: 'neutral' },
  started: { label: 'Running', tone: 'blue', live: true },
  denied: { label: 'Denied', tone: 'red' },
  expired: { label: 'Expired', tone: 'neutral' },
  unknown: { label: 'Outcome unknown', tone: 'amber' },
  // Workers, beyond those.
  inactive: { label: 'Idle', tone: 'neutral' },
  working: { label: 'Working', tone: 'blue', live: true },
  stopped: { label: 'Stopped', tone: 'neutral' },
  // Contexts.
  Idle: { label: 'Idle', tone: 'neutral' },
  ProcessingUserMessage: { label: 'Taking up', tone: 'blue', live: true },
  AwaitingLLMResponse: { label: 'Asking the model', tone: 'blue', live: true },
  StreamingLLMResponse: { label: 'Answering', tone: 'blue', live: true },
  ProcessingLLMResponse: { label: 'Answering', tone: 'blue', live: true },
  AwaitingToolApproval: { label: 'Needs approval', tone: 'amber' },
  AwaitingInput: { label: 'Needs an answer', tone: 'amber' },
  AwaitingWorkers: { label: 'Waiting for workers', tone: 'accent' },
  ExecutingTools: { label: 'Using tools', tone: 'blue', live: true },
  TransientFailure: { label: 'Retrying', tone: 'amber', live: true },
  PermanentFailure: { label: 'Failed', tone: 'red' },
  Stopped: { label: 'Stopped', tone: 'neutral' },
};

export function showStatus(status: string): Shown {
  return SHOWN[status] ?? { label: status, tone: 'neutral' };
}

/** Of a job, a tool call, a worker or a context. */
export function StatusBadge({ status }: { status: string }) {
  const { label, tone, live } = showStatus(status);
  return (
    <Badge tone={tone} dot={live === true ? 'live' : 'still'} title={status}>
      {label}
    </Badge>
  );
}
