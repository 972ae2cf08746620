// Groups of tests, one after the other, for a machine with two cores: what needs no services of the run, what shares its PostgreSQL
// and Redis, the end-to-end tests, which start many processes, and the console in a real browser. Within a group files wait side by
// side. Node runs the sources as they are, and the files of a group share the modules that their process has loaded. A run repeats no
// test; test/flakes decides which files .ci/run repeats.
import { enableCompileCache } from 'node:module';
import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { REPORT_VARIABLE } from './test/flakes/report.ts';
import Sequencer from './test/sequencer.ts';

const core = ['test/{source,core,agent,llm,tools,chaos,client,flakes,proven,docs,testing}/**/*.test.ts'];
const dev = ['test/dev/**/*.test.ts'];
const e2e = ['test/e2e/**/*.test.ts'];
const pages = ['test/console/**/*.test.ts'];
const packed = ['test/package/**/*.test.ts'];
const globalSetup = ['test/services/global-setup.ts'];
const timeouts = {
  testTimeout: 180_000,
  hookTimeout: 180_000,
  teardownTimeout: 60_000,
  expect: { poll: { timeout: 150_000 } },
};

// The processes of a run share what Node has compiled, with those of the next run too.
process.env['NODE_COMPILE_CACHE'] ??= path.join(import.meta.dirname, '.nightshift/test-compiled');
// This process has started without it, and without what the others import first.
enableCompileCache(process.env['NODE_COMPILE_CACHE']);
const IMPORTED_FIRST = path.join(import.meta.dirname, 'test/services/drizzle-modules.js');
await import(IMPORTED_FIRST);

export default defineConfig({
  test: {
    pool: 'forks',
    // Room for new objects: collecting them takes less CPU time.
    execArgv: ['--import', IMPORTED_FIRST, '--max-semi-space-size=64'],
    maxWorkers: 2,
    retry: 0,
    sequence: { sequencer: Sequencer },
    experimental: { viteModuleRunner: false, nodeLoader: false },
    reporters: [
      'default',
      './test/budget.ts',
      ...(process.env[REPORT_VARIABLE] === undefined ? [] : ['./test/flakes/reporter.ts']),
    ],
    projects: [
      {
        test: {
          name: 'core',
          include: core,
          isolate: false,
          sequence: { groupOrder: 0 },
          maxWorkers: 5,
          ...timeouts,
        },
      },
      { test: { name: 'dev', include: dev, sequence: { groupOrder: 0 }, maxWorkers: 5, ...timeouts } },
      {
        test: {
          name: 'services',
          include: ['test/**/*.test.ts'],
          exclude: [...core, ...dev, ...e2e, ...pages, ...packed],
          globalSetup,
          isolate: false,
          sequence: { groupOrder: 2 },
          // Most of what these do is to wait.
          maxWorkers: 6,
          ...timeouts,
        },
      },
      {
        test: {
          name: 'e2e',
          include: e2e,
          globalSetup,
          isolate: false,
          sequence: { groupOrder: 3 },
          // Most of the time these wait for leases, heartbeats and processes that start.
          maxWorkers: 6,
          ...timeouts,
        },
      },
      {
        test: {
          name: 'console',
          include: pages,
          globalSetup: [...globalSetup, 'test/console/rig/global-setup.ts'],
          isolate: false,
          sequence: { groupOrder: 4 },
          // They wait for the page, the API and the worker by turns.
          maxWorkers: 5,
          ...timeouts,
          // A page is drawn and looked at again and again; none of this is a measure of how fast.
          testTimeout: 240_000,
        },
      },
      {
        test: {
          name: 'package',
          include: packed,
          globalSetup: [...globalSetup, 'test/package/global-setup.ts'],
          sequence: { groupOrder: 5 },
          ...timeouts,
        },
      },
    ],
  },
});
