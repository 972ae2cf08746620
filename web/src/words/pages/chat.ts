/** Texts of the chat. Those of its other parts follow. */
import type { Retraction } from 'nightshift/client';

const why: { readonly [Cause in Retraction['cause']]: string } = {
  cancel: 'Stopped',
  stop: 'Stopped',
  interrupt: 'Stopped',
  deadline: 'Stopped at the deadline of its job',
  refused: 'Refused by the model',
  failed: 'Not finished: the model call failed',
};

export const chatWords = {
  retracted: {
    answer: 'Retracted answer',
    input: 'Retracted input',
    why,
    unknown: 'Retracted',
    by: (actor: string) => `by ${actor}`,
    timeline: 'Timeline',
  },
  steered: 'Steered',
  steeredHint: 'This input joined a running job.',
} as const;
