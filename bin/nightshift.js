#!/usr/bin/env node
// The `nightshift` command. Of the installed package: runs what was built, or says which Node it needs. In a clone: runs the
// sources through the bootstrap, which finds the Node and the dependencies that they need.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const major = Number.parseInt(process.versions.node, 10);
if (existsSync(new URL('../bootstrap.js', import.meta.url))) {
  process.argv.splice(2, 0, 'cli');
  await import('../bootstrap.js');
} else if (major < 24) {
  process.stderr.write(`nightshift needs Node 24 or newer; this is Node ${process.versions.node}.\n`);
  process.exit(1);
} else {
  // V8 keeps the compiled code beside the package, where only its owner can write: the next start needs less CPU and
  // memory. Where the folder cannot be written, nothing is kept. Server processes write it once they are ready, so also
  // those that are killed later.
  const { enableCompileCache } = await import('node:module');
  enableCompileCache(fileURLToPath(new URL('../.compile-cache', import.meta.url)));
  await import('../dist/main.js');
}
