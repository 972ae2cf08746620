/** Texts about the log and the progress of a tool call. */

export const callLogWords = {
  entries: 'Entries',
  progress: 'Progress',
  doneOf: (done: number, total: number) => `${done} of ${total}`,
} as const;
