// The values that the global setup of the console's tests provides to every test file (`inject('…')`).

declare module 'vitest' {
  interface ProvidedContext {
    /** The platform that the files share, each as a tenant of its own. */
    consolePlatform: { url: string; effects: string };
  }
}

export {};
