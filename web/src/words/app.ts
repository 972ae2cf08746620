/** Texts around the pages: sign-in, navigation, shortcuts, command palette, and what is shown without a connection. */

const AGAIN = 'Try again.';

/** By the code that the API returns after a sign-in with OpenID Connect. */
const signInErrors: Readonly<Record<string, string>> = {
  sign_in_expired: `The sign-in took too long, or began in another window. ${AGAIN}`,
  sign_in_denied: 'The sign-in was refused or cancelled at the provider.',
  sign_in_failed: `The answer of the provider is not valid. ${AGAIN} If this happens again, ask the operator to look in the log.`,
  no_access: 'Your account has no access. Ask the operator for a grant to one of your groups.',
  provider_unavailable: 'The provider does not answer. Try again later, or use an API key.',
  unavailable: 'The sign-in could not be stored. Try again in a moment.',
  tenant_inactive: 'The tenant of your account is suspended or deleted.',
  rate_limited: 'Too many sign-ins. Try again in a minute.',
};

export const appWords = {
  product: 'Nightshift',
  unreachable: 'Nightshift cannot be reached',
  connectionLost: 'The connection to Nightshift was lost. Reconnecting …',
  pageFailed: 'Something went wrong on this page',
  skipToContent: 'Skip to content',
  navigation: 'Main',
  waiting: (calls: string) => `${calls} waiting`,
  sidebar: { expand: 'Expand the sidebar', collapse: 'Collapse the sidebar' },

  notFound: {
    title: 'Page not found',
    heading: 'This page does not exist',
    about: 'It may have been deleted, or the address is incomplete.',
    goToChat: 'Go to Chat',
  },

  signIn: {
    title: 'Sign in',
    heading: 'Sign in to Nightshift',
    about: 'Enter an API key of this installation. The admin key opens the pages of the operator.',
    aboutProvider: (provider: string) =>
      `Use your account at ${provider}, or enter an API key of this installation. The admin key opens the pages of the operator.`,
    withProvider: (provider: string) => `Sign in with ${provider}`,
    key: 'API key',
    keyInvalid: 'This API key is not valid.',
    submit: 'Sign in',
    submitKey: 'Sign in with the key',
    failedAgain: 'Could not sign in again',
    errors: signInErrors,
  },

  shortcuts: {
    title: 'Keyboard shortcuts',
    goTo: (place: string) => `Go to ${place}`,
    search: 'Search',
    next: 'Next call that waits, in the inbox or a chat; next job, in the list of jobs',
    previous: 'Previous call that waits; previous job',
    select: 'Select the focused job',
    retry: 'Retry the selected jobs, or the focused one',
    approve: 'Approve the focused call',
    deny: 'Deny the focused call, with a reason',
    edit: 'Edit the arguments of the focused call',
    undo: 'Undo the decision, for three seconds',
    jump: 'Go to a date in the chat',
    write: 'Write a message; cancel the selected jobs, or the focused one',
    send: 'Send the message',
    newLine: 'New line',
    moveUp: 'Move a queued input up (Alt+↓: down)',
    close: 'Close the dialog or menu; leave the message, or stop the answer',
    turnSidebar: 'Collapse or expand the sidebar',
    show: 'Show keyboard shortcuts',
    palette: 'Go to a page, find something, or do something, also from a field',
    /** The names of keys. */
    keys: {
      go: (key: string) => `g ${key}`,
      enter: 'Enter',
      shiftEnter: 'Shift+Enter',
      altUp: 'Alt+↑',
      escape: 'Esc',
      palette: 'Ctrl+K',
    },
  },
} as const;

/** Of the command palette. */
export const paletteWords = {
  title: 'Commands',
  placeholder: 'Go to a page, find a context, or do something …',
  searching: 'Searching',
  none: 'Nothing found',
  groups: { pages: 'Pages', actions: 'Actions', recent: 'Recent contexts', found: 'Results' },
  newChat: 'New chat',
  theme: (theme: string) => `Theme: ${theme}`,
  zone: (zone: string) => `Show times as ${zone}`,
  context: (worker: string) => `context of ${worker}`,
  role: 'jobs of this role',
  jobOfId: 'Open the job with this id',
  contextOfId: 'Open the context with this id',
  search: (text: string) => `Search messages for “${text}”`,
  open: 'Commands',
  loadFailed: 'Could not load the commands',
  failed: 'Contexts could not be searched',
} as const;
