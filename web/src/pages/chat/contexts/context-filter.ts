/** Filters of the context list. */
import type { Context } from 'nightshift/client';
import type { ContextFilter } from '../../../data/query/keys.ts';
import type { Option } from '../../../ui/forms/select.tsx';
import { contextsWords } from '../../../words.ts';

const { shown: labels } = contextsWords;

export type Shown = keyof typeof labels;

type StateFilter = Exclude<Shown, 'all' | 'archived'>;

/** Which filters show a state. Those that are only streamed are in no list. */
const SHOWN_BY: Readonly<Record<Context['state'], readonly StateFilter[]>> = {
  Idle: ['idle'],
  ProcessingUserMessage: ['busy'],
  AwaitingLLMResponse: ['busy'],
  StreamingLLMResponse: [],
  ProcessingLLMResponse: [],
  ExecutingTools: ['busy'],
  AwaitingWorkers: ['busy'],
  TransientFailure: ['busy'],
  AwaitingToolApproval: ['waiting', 'busy'],
  AwaitingInput: ['waiting', 'busy'],
  PermanentFailure: ['failed'],
  Stopped: ['stopped'],
};

const STATES = Object.keys(SHOWN_BY) as Context['state'][];

export const SHOWN = (Object.keys(labels) as Shown[]).map((value): Option<Shown> => ({ value, label: labels[value] }));

export function filterOf(shown: Shown): ContextFilter {
  if (shown === 'all') return {};
  if (shown === 'archived') return { archived: true };
  return { state: STATES.filter((state) => SHOWN_BY[state].includes(shown)) };
}
