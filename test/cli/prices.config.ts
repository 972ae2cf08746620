// A config file for the tests of the command line: one model has a price, a tenth of a cent for each token.
import { defineConfig } from '../../src/index.ts';

export default defineConfig({
  prices: { 'simulated/priced': { input: 1_000, output: 1_000, cache_read: 0, cache_write: 0 } },
});
