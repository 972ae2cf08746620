/** Searches lines of files for a literal text, so that no pattern is slower than another. */
import type { FileHandle } from 'node:fs/promises';
import { headOf } from '../../run/truncate.ts';
import type { Visited } from './survey.ts';
import { openFile } from './walk.ts';

type Match = { path: string; line: number; text: string };

/** The most matches of one search. */
const MATCHES = 200;

/** Characters shown of a line, and how many of them precede the match. */
const LINE = 300;
const BEFORE = 100;

/** The number of bytes checked to decide whether a file is text. */
const PROBE = 8_000;

/** What is searched: a literal `text`, in files of at most `fileBytes` bytes. */
type Search = { text: string; fileBytes: number; signal: AbortSignal };

type Matches = {
  found: readonly Match[];
  /** How many more may follow. */
  left(): number;
  /** False: no more fit. */
  add(more: readonly Match[]): boolean;
};

/** Collects the matches that fit into a result of `room` characters. */
export function createMatches(room: number): Matches {
  const found: Match[] = [];
  let left = room;
  return {
    found,
    left: () => MATCHES - found.length,
    add(more) {
      for (const match of more) {
        left -= JSON.stringify(match).length + 1;
        if (left < 0) return false;
        found.push(match);
      }
      return found.length < MATCHES;
    },
  };
}

/** Searches the files of one directory. False: no more matches fit. */
export async function searchFolder(
  { text, fileBytes, signal }: Search,
  { at, entries, folder }: Visited,
  matches: Matches,
): Promise<boolean> {
  for (const { name, type, size } of entries) {
    signal.throwIfAborted();
    if (type !== 'file' || size > fileBytes) continue;
    const path = [...at, name].join('/');
    const handle = await openFile({ folder, name, at: path }).catch(() => null);
    if (handle === null) continue;
    try {
      if (!matches.add(await matchesIn(handle, text, path, matches.left()))) return false;
    } finally {
      await handle.close();
    }
  }
  return true;
}

/** At most `most` lines; none for binary files. */
async function matchesIn(handle: FileHandle, pattern: string, path: string, most: number): Promise<Match[]> {
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
