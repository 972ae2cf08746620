/** Where the built console is: beside the compiled code in a package, in a folder of its own in a clone. */
import { existsSync } from 'node:fs';
import path from 'node:path';

const PLACES = [
  path.join(import.meta.dirname, '..', 'web'),
  path.join(import.meta.dirname, '..', '..', '.nightshift', 'web'),
];

/** Null: it was not built. */
export function consoleFolder(): string | null {
  return PLACES.find((folder) => existsSync(path.join(folder, 'index.html'))) ?? null;
}
