/** Who did something: for the middle of a sentence. */
export const actorWords = {
  onBehalfOf: (actor: string, user: string) => `${actor}, on behalf of ${user}`,
  key: (key: string) => `the ${key}`,
  browser: (key: string) => `a browser with the ${key}`,
  token: 'a token',
  operator: 'the operator',
  system: 'Nightshift',
  keys: {
    unknown: 'API key',
    ofEnvironment: (name: string) => `environment key ${name}`,
    stored: (name: string) => `API key ${name}`,
  },
} as const;
