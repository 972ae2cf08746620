// Long parts of the suite that depend on few sources. `npm run test:full` records in digests.json the sources with
// which a part has passed; .ci/run plays a part in full only where these sources have changed.
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.join(import.meta.dirname, '../..');
const DIGESTS = path.join(import.meta.dirname, 'digests.json');
const SERVICES = ['src/dev', 'package-lock.json'];

/** Files and folders that decide whether a part passes, beside the rest of the suite. */
export const SOURCES = {
  'fresh-machine': [
    ...SERVICES,
    'bootstrap.js',
    'bootstrap-child.js',
    'bootstrap-link.js',
    'bootstrap-progress.js',
    'package.json',
    'test/e2e/start/clone.ts',
    'test/e2e/start/fresh-machine.test.ts',
  ],
  chaos: [
    'test/chaos',
    'test/e2e/chaos.test.ts',
    'test/e2e/outages/silent-proxy.ts',
    'test/services/logins.ts',
    'test/workers/webhooks/receiver.ts',
  ],
  embedded: SERVICES,
} as const;

export type Part = keyof typeof SOURCES;

export const PARTS: readonly Part[] = ['fresh-machine', 'chaos', 'embedded'];

/** Parts whose sources have changed since they last passed. */
export function changedParts(): Part[] {
  const proven = readDigests();
  return PARTS.filter((part) => proven.get(part) !== digestOf(SOURCES[part]));
}

/** Records that a part has passed. `digest`: of its sources when it began. */
export function recordPassed(part: Part, digest: string): void {
  const proven = readDigests().set(part, digest);
  writeFileSync(DIGESTS, `${JSON.stringify(Object.fromEntries(proven), null, 2)}\n`);
}

/** Of the names and the contents of all files below `places`, which are paths in `root`. */
export function digestOf(places: readonly string[], root = ROOT): string {
  const hash = createHash('sha256');
  for (const file of places.flatMap((place) => filesIn(place, root)).sort()) {
    const content = readFileSync(path.join(root, file));
    hash.update(`${file} ${content.length}\n`).update(content);
  }
  return hash.digest('hex');
}

function filesIn(place: string, root: string): string[] {
  const whole = path.join(root, place);
  if (!statSync(whole).isDirectory()) return [place];
  return readdirSync(whole).flatMap((name) => filesIn(path.posix.join(place, name), root));
}

function readDigests(): Map<string, string> {
  const stored: unknown = JSON.parse(readFileSync(DIGESTS, 'utf8'));
  const entries = typeof stored === 'object' && stored !== null ? Object.entries(stored) : [];
  return new Map(entries.flatMap(([part, digest]) => (typeof digest === 'string' ? [[part, digest]] : [])));
}
