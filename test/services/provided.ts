// The values that the global setup provides to every test file (`inject('…')`).
export interface ServiceContainers {
  postgres: string;
  redis: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    /** A superuser's address of the run's PostgreSQL. Tests make databases of their own: see database.ts. */
    databaseUrl: string;
    /** The run's Redis; null where none could be had. Tests keep to a prefix of their own: see prefix.ts. */
    redisUrl: string | null;
    /** Container ids, where the services run in containers. */
    serviceContainers: ServiceContainers | null;
    /** Names this test run; containers made in it carry it as a label. */
    testRun: string;
  }
}
