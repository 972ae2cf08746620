// When sources were last changed: a build is stale if it is older.
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';

/** The last change of these files and folders, or of those below them, in milliseconds. */
export function newestChange(places: readonly string[]): number {
  return Math.max(...places.map(changedAt));
}

function changedAt(place: string): number {
  const stat = statSync(place);
  const own = Math.ceil(stat.mtimeMs);
  if (!stat.isDirectory()) return own;
  return Math.max(own, ...readdirSync(place).map((name) => changedAt(path.join(place, name))));
}
