// Servers of the protocol from npm, and one that a test scripts, as a config file names them.
import { join } from 'node:path';

const installed = (name: string): string =>
  join(import.meta.dirname, `../../node_modules/@modelcontextprotocol/${name}/dist/index.js`);

export const everything = { command: process.execPath, args: [installed('server-everything')] };

/** May read and write inside `folder`. */
export const filesystem = (folder: string) => ({
  command: process.execPath,
  args: [installed('server-filesystem'), folder],
});

/** Stores its data in `file`. */
export const memory = (file: string) => ({
  command: process.execPath,
  args: [installed('server-memory')],
  env: { MEMORY_FILE_PATH: file },
});

/** Writes its facts to `folder`. */
export const scripted = (folder: string) => ({
  command: process.execPath,
  args: [join(import.meta.dirname, 'scripted-server.ts'), folder],
});
