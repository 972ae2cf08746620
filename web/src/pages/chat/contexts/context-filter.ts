/** Filters of the context list. */
import type { Context } from 'nightshift/client';
import type { ContextFilter } from '../../../data/query/keys.ts';
import type { Option } from '../../../ui/forms/select.tsx';

const STATES = {
  waiting: ['AwaitingToolApproval', 'AwaitingInput'],
  busy: [
    'ProcessingUserMessage',
    'AwaitingLLMResponse',
    'ExecutingTools',
    'AwaitingWorkers',
    'TransientFailure',
    'AwaitingToolApproval',
    'AwaitingInput',
  ],
  failed: ['PermanentFailure'],
  idle: ['Idle'],
  stopped: ['Stopped'],
} as const satisfies Record<string, readonly Context['state'][]>;

export type Shown = keyof typeof STATES | 'all' | 'archived';

export const SHOWN: readonly Option<Shown>[] = [
  { value: 'all', label: 'All' },
  { value: 'busy', label: 'Active' },
  { value: 'waiting', label: 'Waiting for me' },
  { value: 'failed', label: 'Failed' },
  { value: 'idle', label: 'Idle' },
  { value: 'stopped', label: 'Stopped' },
  { value: 'archived', label: 'Archived' },
];

export function filterOf(shown: Shown): ContextFilter {
  if (shown === 'all') return {};
  return shown === 'archived' ? { archived: true } : { state: [...STATES[shown]] };
}
