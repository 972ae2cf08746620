#!/usr/bin/env node
// Runs what was built, or says which Node it needs.
const major = Number.parseInt(process.versions.node, 10);
if (major < 24) {
  process.stderr.write(`create-nightshift needs Node 24 or newer; this is Node ${process.versions.node}.\n`);
  process.exitCode = 1;
} else {
  await import('../dist/create.js');
}
