/** Texts of the menu of a message, and of the dialog that edits an input. */

export const messageMenuWords = {
  label: 'Message actions',
  copy: 'Copy',
  copied: 'Copied',
  copyRefused: 'The browser does not allow this page to copy.',
  /** Of an input, and of an answer. */
  regenerateAnswer: 'Regenerate answer',
  regenerate: 'Regenerate',
  regenerating: (branch: string) => `Regenerating on branch ${branch}`,
  regenerateFailed: 'Could not regenerate the answer',
  branch: 'Branch from here …',
  fork: 'Fork into a new context',
  forkFailed: 'Could not fork the context',

  edit: {
    open: 'Edit …',
    title: 'Edit input',
    about: 'The edited input and its answer go on a new branch. The current branch stays unchanged.',
    input: 'Input',
    hint: 'Ctrl+Enter sends the input.',
    hintWithFiles: (files: number) =>
      `Ctrl+Enter sends the input with ${files === 1 ? 'the attachment' : `the ${files} attachments`} of the original.`,
    delivery: 'Delivery (a job is active)',
    submit: 'Send on new branch',
    done: (branch: string) => `Edited input sent on branch ${branch}`,
  },
} as const;
