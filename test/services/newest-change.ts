// When sources were last changed: what was built from them is stale if it is older.
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';

/** When the newest of these files and folders, or of those below them, was changed, in milliseconds. */
export function newestChange(places: readonly string[]): number {
  return Math.max(...places.map(changedAt));
}

function changedAt(place: string): number {
  const stat = statSync(place);
  const own = Math.ceil(stat.mtimeMs);
  if (!stat.isDirectory()) return own;
  return Math.max(own, ...readdirSync(place).map((name) => changedAt(path.join(place, name))));
}
