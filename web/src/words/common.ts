/** Actions that every page names alike, and words that belong to no page. */

export const commonWords = {
  cancel: 'Cancel',
  close: 'Close',
  delete: 'Delete',
  disable: 'Disable',
  edit: 'Edit',
  from: 'From',
  loading: 'Loading',
  name: 'Name',
  pause: 'Pause',
  resume: 'Resume',
  retry: 'Retry',
  save: 'Save',
  showMore: 'Show more',
  signOut: 'Sign out',
  signOutFailed: 'Could not sign out',
  suspend: 'Suspend',
  until: 'Until',
} as const;

/** Of one object among several: what is pressed, and its name. */
export const actionOn = (action: string, name: string): string => `${action} ${name}`;
