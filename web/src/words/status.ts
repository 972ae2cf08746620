/** Labels of the statuses and states of the API. */
import type { Context, Job, MessageToolCall, Worker } from 'nightshift/client';

export type Status = Job['status'] | MessageToolCall['status'] | Worker['state'] | Context['state'];

export const statusWords: Readonly<Record<Status, string>> = {
  // Jobs.
  delayed: 'Delayed',
  queued: 'Queued',
  running: 'Running',
  waiting: 'Waiting',
  completed: 'Completed',
  incomplete: 'Incomplete',
  failed: 'Failed',
  cancelled: 'Cancelled',
  interrupted: 'Interrupted',
  // Additional statuses of tool calls.
  pending: 'Pending',
  started: 'Running',
  denied: 'Denied',
  expired: 'Expired',
  unknown: 'Outcome unknown',
  // Additional states of workers.
  inactive: 'Idle',
  working: 'Working',
  stopped: 'Stopped',
  // Contexts.
  Idle: 'Idle',
  ProcessingUserMessage: 'Starting',
  AwaitingLLMResponse: 'Calling the model',
  StreamingLLMResponse: 'Answering',
  ProcessingLLMResponse: 'Answering',
  AwaitingToolApproval: 'Needs approval',
  AwaitingInput: 'Needs an answer',
  AwaitingWorkers: 'Waiting for workers',
  ExecutingTools: 'Running tools',
  TransientFailure: 'Retrying',
  PermanentFailure: 'Failed',
  Stopped: 'Stopped',
};
