/** Texts around the input of the chat: the composer, queued inputs, and the button that stops a job. */
import type { Interrupt, PostMessage } from 'nightshift/client';
import { count } from '../../count.ts';

/** In the order of the options. */
const deliveries: Readonly<Record<Exclude<NonNullable<PostMessage['delivery']>, 'reject'>, string>> = {
  queue: 'Queue: after the current job',
  steer: 'Steer: at the next step',
  interrupt: 'Interrupt: stop and run now',
};

export const composerWords = {
  input: 'Message',
  placeholder: 'Message the worker …',
  answerPlaceholder: 'Write an answer …',
  delivery: 'Delivery',
  deliveries,
  /** In place of `queue`, while a question waits. */
  answerQuestion: 'Answer the question',
  send: 'Send',
  sendFailed: 'Could not send the message',
  /** Why nothing can be sent. */
  isEmpty: 'The message is empty',
  isStopped: 'The worker is stopped and accepts no input.',
  isLost: 'The connection is lost.',

  attachments: {
    list: 'Attachments',
    add: 'Attach images or PDFs',
    files: 'Files to attach',
    remove: (file: string) => `Remove ${file}`,
    failed: 'Could not attach the file',
    unreadable: 'The file could not be read.',
    onlySome: 'Only images (PNG, JPEG, GIF, WebP) and PDFs can be attached.',
    tooLarge: 'The attachments of one input are limited to 11 MB.',
  },
} as const;

export const queuedWords = {
  list: 'Queued inputs',
  inputs: (inputs: number) => count(inputs, 'queued input', 'queued inputs'),
  input: (place: number) => `Queued input ${place}`,
  attachment: 'Attachment',
  moveUp: 'Move up',
  moveDown: 'Move down',
  changeFailed: 'Could not change the input',
  withdraw: 'Withdraw',
  withdrawFailed: 'Could not withdraw the input',
  field: 'Queued input',
} as const;

const stops: Readonly<Record<NonNullable<Interrupt['mode']>, string>> = {
  keep: 'Stop and keep completed messages',
  discard: 'Stop and discard the answer',
  rollback: 'Stop and discard answer and input',
};

export const stopWords = {
  stop: 'Stop',
  byKey: 'Stop (Esc)',
  stopping: 'Stopping …',
  options: 'Stop options',
  modes: stops,
  cancel: 'Cancel job',
  failed: 'Could not stop the job',
  notUndone: (effects: readonly string[]) => `Started before the stop and not undone: ${effects.join(', ')}`,
} as const;
