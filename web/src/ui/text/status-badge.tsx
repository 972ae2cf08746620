/** Labels and colours of the statuses and states of the API. An unknown value is shown unchanged. */
import { Badge, type Tone } from './badge.tsx';

type Shown = { label: string; tone: Tone; live?: true };

const SHOWN: Readonly<Record<string, Shown>> = {
  // Jobs.
  delayed: { label: 'Delayed', tone: 'neutral' },
  queued: { label: 'Queued', tone: 'neutral' },
  running: { label: 'Running', tone: 'blue', live: true },
  waiting: { label: 'Waiting', tone: 'amber' },
  completed: { label: 'Completed', tone: 'green' },
  incomplete: { label: 'Incomplete', tone: 'amber' },
  failed: { label: 'Failed', tone: 'red' },
  cancelled: { label: 'Cancelled', tone: 'neutral' },
  interrupted: { label: 'Interrupted', tone: 'neutral' },
  // Additional statuses of tool calls.
  pending: { label: 'Pending', tone: 'neutral' },
  started: { label: 'Running', tone: 'blue', live: true },
  denied: { label: 'Denied', tone: 'red' },
  expired: { label: 'Expired', tone: 'neutral' },
  unknown: { label: 'Outcome unknown', tone: 'amber' },
  // Additional states of workers.
  inactive: { label: 'Idle', tone: 'neutral' },
  working: { label: 'Working', tone: 'blue', live: true },
  stopped: { label: 'Stopped', tone: 'neutral' },
  // Contexts.
  Idle: { label: 'Idle', tone: 'neutral' },
  ProcessingUserMessage: { label: 'Starting', tone: 'blue', live: true },
  AwaitingLLMResponse: { label: 'Calling the model', tone: 'blue', live: true },
  StreamingLLMResponse: { label: 'Answering', tone: 'blue', live: true },
  ProcessingLLMResponse: { label: 'Answering', tone: 'blue', live: true },
  AwaitingToolApproval: { label: 'Needs approval', tone: 'amber' },
  AwaitingInput: { label: 'Needs an answer', tone: 'amber' },
  AwaitingWorkers: { label: 'Waiting for workers', tone: 'accent' },
  ExecutingTools: { label: 'Running tools', tone: 'blue', live: true },
  TransientFailure: { label: 'Retrying', tone: 'amber', live: true },
  PermanentFailure: { label: 'Failed', tone: 'red' },
  Stopped: { label: 'Stopped', tone: 'neutral' },
};

export function showStatus(status: string): Shown {
  return SHOWN[status] ?? { label: status, tone: 'neutral' };
}

/** Badge for the status of a job or tool call, or the state of a worker or context. */
export function StatusBadge({ status }: { status: string }) {
  const { label, tone, live } = showStatus(status);
  return (
    <Badge tone={tone} dot={live === true ? 'live' : 'still'} title={status}>
      {label}
    </Badge>
  );
}
