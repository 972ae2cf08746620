/** Texts of the command palette. */

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
