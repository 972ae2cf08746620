/** Texts of the page Access: API keys and tokens. */

export const accessWords = {
  tabs: { keys: 'API keys', audit: 'Audit log' },

  keys: {
    about: 'API keys of this tenant. Those of {variable} are not listed.',
    empty: 'No API keys yet',
    emptyAbout: 'Create a key for each service and each person, with only the scopes that they need.',
    rotate: 'Rotate',
    revoke: 'Revoke',
    isRevoked: 'Revoked',
    isExpired: 'Expired',
    created: 'Created {when}',
    createdByRotation: 'Created {when} by a rotation',
    used: 'Last used {when}',
    neverUsed: 'Last used never',
    revoked: 'Revoked {when}',
    expired: 'Expired {when}',
    expires: 'Expires {when}',
    neverExpires: 'Does not expire',
  },
  rotate: {
    title: (name: string) => `Rotate API key ${name}?`,
    about:
      'Creates a key with the same name, scopes, limits and lifetime. When the old key ends, browser sessions that began with it end too. If you signed in with the old key, you are then signed out.',
    overlap: 'How long the old key stays valid',
    overlapHint: 'Replace the key wherever it is used before the old one ends.',
  },
  revoke: {
    title: (name: string) => `Revoke API key ${name}?`,
    about:
      'It ends within a second. The browser sessions that began with it, its event streams, and the tokens that it created end too. If you signed in with this key, you are signed out.',
    done: (name: string) => `API key ${name} revoked`,
  },
  tokens: {
    title: 'Tokens of end users',
    about:
      'Your server creates them for browsers. They are not stored, so they cannot be listed, but you can revoke all tokens of a user.',
    open: 'Revoke tokens',
    confirm: 'Revoke tokens of a user?',
    confirmAbout:
      'All tokens of the user, its sessions of sign-in with OpenID Connect, and their event streams end within a second. Your server can create new tokens.',
    user: 'User',
    userHint:
      'Exactly as your server gave it when it created the tokens. For a person who signed in with OpenID Connect: as the audit log shows it.',
    done: (user: string) => `Tokens of ${user} revoked`,
  },
} as const;
