/** The sections of the console: in the navigation, and as titles of their pages. */

export const placeWords = {
  chat: 'Chat',
  inbox: 'Inbox',
  jobs: 'Jobs',
  schedules: 'Schedules',
  overview: 'Overview',
  operations: 'Operations',
  search: 'Search',
  tenants: 'Tenants',
  access: 'Access',
  settings: 'Settings',
} as const;
