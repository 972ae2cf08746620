#!/usr/bin/env node
// The `nightshift` command of the installed package: says which Node it needs where an older one runs it.
const major = Number.parseInt(process.versions.node, 10);
if (major < 24) {
  process.stderr.write(`nightshift needs Node 24 or newer; this is Node ${process.versions.node}.\n`);
  process.exit(1);
}
await import('../dist/cli/main.js');
