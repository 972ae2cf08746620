// Builds the console into `dist/web`, or into the folder given by `--outDir`. For development run
// `npx vite web --host 127.0.0.1`, which proxies the API at NIGHTSHIFT_URL.
import path from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { precompress } from './precompress.ts';

const root = import.meta.dirname;
/** `words.ts` imports the texts of all pages, and every page imports `words.ts`. */
const WORDS = /[\\/]web[\\/]src[\\/]words(?:\.ts|[\\/])/;
const api = process.env['NIGHTSHIFT_URL'] ?? 'http://127.0.0.1:3000';

export default defineConfig({
  root,
  plugins: [react(), precompress()],
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
    // Texts of a page stay in the chunk of that page.
    rolldownOptions: { treeshake: { moduleSideEffects: [{ test: WORDS, sideEffects: false }] } },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1000,
  },
  server: { host: '127.0.0.1', proxy: { '/api': api, '/healthz': api, '/readyz': api, '/docs': api } },
});
