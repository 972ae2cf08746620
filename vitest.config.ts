// Five groups of tests, one after the other, for a machine with two cores: what needs no services at all, the
// embedded services themselves, what shares the run's PostgreSQL and Redis, the end-to-end tests, which start
// many processes and so run one file at a time, and the console in a real browser. A test that fails is not tried again: it is a fault.
import { defineConfig } from 'vitest/config';

const core = ['test/architecture.test.ts', 'test/{core,agent,llm,tools,chaos,client}/**/*.test.ts'];
const dev = ['test/dev/**/*.test.ts'];
const e2e = ['test/e2e/**/*.test.ts'];
const pages = ['test/console/**/*.test.ts'];
const globalSetup = ['test/services/global-setup.ts'];
const patient = {
  testTimeout: 180_000,
  hookTimeout: 180_000,
  teardownTimeout: 60_000,
  expect: { poll: { timeout: 150_000 } },
};

export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: 2,
    retry: 0,
    projects: [
      { test: { name: 'core', include: core, sequence: { groupOrder: 0 }, ...patient } },
      { test: { name: 'dev', include: dev, sequence: { groupOrder: 1 }, ...patient } },
      {
        test: {
          name: 'services',
          include: ['test/**/*.test.ts'],
          exclude: [...core, ...dev, ...e2e, ...pages],
          globalSetup,
          sequence: { groupOrder: 2 },
          ...patient,
        },
      },
      {
        test: {
          name: 'e2e',
          include: e2e,
          globalSetup,
          fileParallelism: false,
          sequence: { groupOrder: 3 },
          ...patient,
        },
      },
      {
        test: {
          name: 'console',
          include: pages,
          globalSetup: [...globalSetup, 'test/console/global-setup.ts'],
          fileParallelism: false,
          sequence: { groupOrder: 4 },
          ...patient,
          // A page is drawn and looked at again and again; none of this is a measure of how fast.
          testTimeout: 240_000,
        },
      },
    ],
  },
});
