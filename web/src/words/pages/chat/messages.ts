/** Texts of the messages of a chat and of their tool calls. */
import type { Retraction } from 'nightshift/client';

export const messageListWords = {
  label: 'Messages',
  none: 'No messages yet',
  noneAbout: 'Send a message to start.',
  loadingOlder: 'Loading older messages …',
  loadFailed: 'Could not load more messages',
  findFailed: 'Could not find the message',
  toLatest: 'Jump to latest',
} as const;

const retractedBy: Readonly<Record<Retraction['cause'], string>> = {
  cancel: 'Stopped',
  stop: 'Stopped',
  interrupt: 'Stopped',
  deadline: 'Stopped at the deadline of its job',
  refused: 'Refused by the model',
  failed: 'Not finished: the model call failed',
};

export const messageWords = {
  input: 'Input',
  answer: 'Answer',
  plan: 'Plan',
  partial: 'Partial answer',
  beingSent: 'Being sent',
  sending: 'Sending …',
  sent: 'Sent',
  /** Of an input: who sent it. */
  sender: 'from {worker}',
  otherWorker: 'another worker',
  steered: 'Steered',
  steeredHint: 'This input joined a running job.',
  truncated: 'Truncated: max_tokens',
  showRendered: 'Show rendered',
  showRaw: 'Show raw text',
  thinking: 'Thinking …',
  thought: 'Thought',

  retracted: {
    answer: 'Retracted answer',
    input: 'Retracted input',
    why: retractedBy,
    unknown: 'Retracted',
    by: (actor: string) => `by ${actor}`,
  },
} as const;

export const toolWords = {
  card: (tool: string) => `Tool ${tool}`,
  resultCard: 'Tool result',
  error: 'Error',
  output: 'Output',
  log: 'Log',
  /** Before what a person answered. */
  answered: 'Answer:',
  /** In a text, for an image of the result. */
  image: '[image]',
  openContext: 'Open its context',
} as const;
