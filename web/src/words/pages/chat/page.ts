/** Texts of the chat: of the open context as a whole, and words that several parts of the chat have. */

export const chatWords = {
  tree: 'Worker tree',
  timeline: 'Timeline',
  copyLink: 'Copy link',
  startWorker: 'Start worker',
  startFailed: 'Could not start the worker',

  nothingOpen: {
    title: 'No context selected',
    about: 'Select a context from the list, or create a worker.',
  },
  conversation: 'Conversation',
  allContexts: 'All contexts',
  liveStopped: 'Live updates have stopped',
  /** What a screen reader says. */
  announced: (answer: string) => `Assistant: ${answer}`,

  gauge: {
    label: 'Context used',
    of: (tokens: string, most: string) => `${tokens} of ${most}`,
    /** `compactsAt`: in percent of the limit; null: never. */
    about: ({ tokens, most, compactsAt }: { tokens: string; most: string; compactsAt: number | null }) =>
      `The last prompt and its answer: ${tokens} of ${most} tokens.${
        compactsAt === null ? '' : ` Old messages are compacted above ${compactsAt}%.`
      }`,
    costAbout: (cost: string) => `Cost of this context so far: $${cost}`,
  },

  state: {
    label: 'State',
    position: (place: number) => `Position in queue: ${place}.`,
    retryFailed: 'Could not retry',
  },
} as const;
