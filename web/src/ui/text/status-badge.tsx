/** Colours of the statuses and states of the API. An unknown value is shown unchanged. */
import { statusWords, type Status } from '../../words.ts';
import { Badge, type Tone } from './badge.tsx';

type Look = { tone: Tone; live?: true };

const NEUTRAL: Look = { tone: 'neutral' };
const LIVE: Look = { tone: 'blue', live: true };
const AMBER: Look = { tone: 'amber' };
const RED: Look = { tone: 'red' };

const LOOKS: Readonly<Record<Status, Look>> = {
  // Jobs.
  delayed: NEUTRAL,
  queued: NEUTRAL,
  running: LIVE,
  waiting: AMBER,
  completed: { tone: 'green' },
  incomplete: AMBER,
  failed: RED,
  cancelled: NEUTRAL,
  interrupted: NEUTRAL,
  // Additional statuses of tool calls.
  pending: NEUTRAL,
  started: LIVE,
  denied: RED,
  expired: NEUTRAL,
  unknown: AMBER,
  // Additional states of workers.
  inactive: NEUTRAL,
  working: LIVE,
  stopped: NEUTRAL,
  // Contexts.
  Idle: NEUTRAL,
  ProcessingUserMessage: LIVE,
  AwaitingLLMResponse: LIVE,
  StreamingLLMResponse: LIVE,
  ProcessingLLMResponse: LIVE,
  AwaitingToolApproval: AMBER,
  AwaitingInput: AMBER,
  AwaitingWorkers: { tone: 'accent' },
  ExecutingTools: LIVE,
  TransientFailure: { tone: 'amber', live: true },
  PermanentFailure: RED,
  Stopped: NEUTRAL,
};

function isKnown(status: string): status is Status {
  return Object.hasOwn(statusWords, status);
}

export function showStatus(status: string): Look & { label: string } {
  return isKnown(status) ? { label: statusWords[status], ...LOOKS[status] } : { label: status, ...NEUTRAL };
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
