// Recordings that are not part of the repository: beside the clone, or in the folder that NIGHTSHIFT_TEST_DATA names. Where
// they are absent, a run prints why it skips their tests. If NIGHTSHIFT_TEST_DATA is set, as in .ci/run, they must be there.
import { existsSync } from 'node:fs';
import path from 'node:path';

const NAMED = process.env['NIGHTSHIFT_TEST_DATA'];
const FOLDER = NAMED ?? path.join(import.meta.dirname, '../../../shared/data');

/** For processes that a test starts, which read them too. */
export const RECORDED_DATA_ENV: Readonly<Record<string, string>> =
  NAMED === undefined ? {} : { NIGHTSHIFT_TEST_DATA: NAMED };

const printed = new Set<string>();

/** `name`: a file or a folder of the recordings. `absent` null: it is there. */
export function recordedData(name: string): { file: string; absent: string | null } {
  const file = path.join(FOLDER, name);
  if (existsSync(file)) return { file, absent: null };
  const absent = `the recordings are not at ${file}`;
  if (NAMED !== undefined) throw new Error(`NIGHTSHIFT_TEST_DATA is set, and ${absent}.`);
  if (!printed.has(name)) process.stderr.write(`Tests are skipped: ${absent}.\n`);
  printed.add(name);
  return { file, absent };
}
