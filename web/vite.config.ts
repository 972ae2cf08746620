// Builds the console into `dist/web`, or into the folder given by `--outDir`. For development run
// `npx vite web --host 127.0.0.1`, which proxies the API at NIGHTSHIFT_URL.
import path from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { pageFiles } from './page-files.ts';
import { precompress } from './precompress.ts';

// A library makes a slower build for any other value that the environment may have.
if (process.argv.includes('build')) process.env['NODE_ENV'] = 'production';

const root = import.meta.dirname;
/** `words.ts` imports the texts of all pages, and every page imports `words.ts`. */
const WORDS = /[\\/]web[\\/]src[\\/]words(?:\.ts|[\\/])/;
const api = process.env['NIGHTSHIFT_URL'] ?? 'http://127.0.0.1:3000';

/**
 * Few files: over HTTP/1.1 a browser loads six at a time, and each costs a round trip. React stays the same in most
 * releases; `index` is what the console needs before it knows the page, `shared` what many pages need.
 */
const CHUNKS = [
  { name: 'react', test: /[\\/]node_modules[\\/](?:react|react-dom|scheduler)[\\/]/, priority: 3 },
  { name: 'index', tags: ['$initial' as const], priority: 2 },
  { name: 'shared', minShareCount: 3, priority: 1 },
];

export default defineConfig({
  root,
  plugins: [react(), precompress(), pageFiles()],
  resolve: { alias: { 'nightshift/client': path.join(root, '../src/client/index.ts') } },
  build: {
    outDir: path.join(root, '../dist/web'),
    emptyOutDir: true,
    // Browsers that support `light-dark()`.
    target: ['chrome123', 'firefox128', 'safari17.5'],
    // A data: URL would need a looser content security policy.
    assetsInlineLimit: 0,
    license: { fileName: 'licenses.md' },
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // Texts of a page stay in the chunk of that page.
      treeshake: { moduleSideEffects: [{ test: WORDS, sideEffects: false }] },
      output: { codeSplitting: { groups: CHUNKS } },
    },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1000,
  },
  server: { host: '127.0.0.1', proxy: { '/api': api, '/healthz': api, '/readyz': api, '/docs': api } },
});
