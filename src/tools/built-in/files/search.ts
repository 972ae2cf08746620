/** Searches lines of files for a literal text, so that no pattern is slower than another. */
import type { FileHandle } from 'node:fs/promises';
import { headOf } from '../../run/truncate.ts';

export type Match = { path: string; line: number; text: string };

/** Characters shown of a line, and how many of them precede the match. */
const LINE = 300;
const BEFORE = 100;

/** The number of bytes checked to decide whether a file is text. */
const PROBE = 8_000;

/** At most `most` lines; none for binary files. */
export async function matchesIn(
  handle: FileHandle,
  pattern: string,
  path: string,
  most: number,
): Promise<Match[]> {
  const bytes = await handle.readFile();
  if (bytes.subarray(0, PROBE).includes(0) || !bytes.includes(pattern)) return [];
  const matches: Match[] = [];
  for (const [index, text] of bytes.toString('utf8').split('\n').entries()) {
    const at = text.indexOf(pattern);
    if (at < 0) continue;
    matches.push({ path, line: index + 1, text: excerpt(text, at) });
    if (matches.length >= most) break;
  }
  return matches;
}

function excerpt(line: string, at: number): string {
  const text = line.endsWith('\r') ? line.slice(0, -1) : line;
  return text.length <= LINE ? text : headOf(text.slice(Math.max(0, at - BEFORE)), LINE);
}
