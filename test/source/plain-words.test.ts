// Words of the old private language do not come back: readers search for the terms of the field (docs/glossary.md).
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const ROOT = path.join(import.meta.dirname, '../..');

/** Each with the term that stands in its place. */
const OLD_WORDS: readonly [RegExp, string][] = [
  [/\b(?:door)?bells?\b/i, 'wake-up, wake queue'],
  [/\b(?:rung|to ring|rings? (?:for|again)|ringing)\b/i, 'wake, notify'],
  [/\bwhisper(?:s|ed|ing)?\b/i, 'publish, broadcast'],
  [/\btidings\b/i, 'after-commit actions'],
  [/\bsummon(?:s|ed)?\b/i, 'control signal'],
  [/\bnarrat(?:or|es?)\b/i, 'stream publisher'],
  [/\butter(?:s|ed|ances?)?\b/i, 'delta frame'],
  [/\bin the making\b/i, 'partial message'],
  [/\baudience\b/i, 'subscriber registry'],
  [/\berrands?\b/i, 'follow-up'],
  [/\bbarren\b/i, 'failed claims'],
  [/\bwish(?:es|ed)?\b/i, 'stop request'],
  [/\bcall(?:s|ed)? up\b/i, 'lock for control'],
  [/\bhand(?:s|ed)?[ _]back\b/i, 'release'],
  [/\bunserved\b/i, 'unsupported'],
  [/\bverdicts?\b/i, 'job outcome, approval decision'],
  [/\blight calls?\b/i, 'eager call'],
  [/\b(?:held|holds?|holding) back\b/i, 'throttle'],
  [/\bsurplus\b/i, 'noop'],
  [/\boperator['’]s files?\b/i, 'config file'],
  [/\bwho(?:m|so)?ever\b/i, 'the actor by its name'],
  [/\b(?:some|no)body\b/i, 'the actor by its name'],
  [/\bin vain\b/i, 'without success'],
  [/\banew\b/i, 'again'],
  [/\blet(?:s|ting)? go\b/i, 'release'],
  [/\bg(?:ives?|ave|iven) back\b/i, 'release, return'],
  [/\bt(?:akes?|ook|aken) up\b/i, 'claim, resume, run'],
  [/\bwhat (?:is|was) said\b/i, 'message, text'],
  [/\bwhat stands\b/i, 'history, stored rows'],
  [/\btruth\b/i, 'stored state, outcome'],
  [/\bears?\b/i, 'Redis handlers, subscriber'],
  [/\bpatience\b/i, 'timeout'],
];

/** Folders and files whose text has been rewritten. */
const CHECKED: readonly string[] = [
  'src/db',
  'src/core',
  'src/agent',
  'src/llm',
  'src/workers',
  'src/commands',
  'src/events',
  'src/bus',
  'src/queue',
  'src/dev',
  'src/api',
  'src/client',
  'src/cli',
  'src/embed',
  'src/config',
  'src/tools',
  'web/src',
  'docs',
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'bench',
  'examples',
  'templates',
  'test',
];

/** This file: it lists the words. */
const LIST = path.relative(ROOT, import.meta.filename);

/**
 * `nobody`, the account of Unix; `audience`, a claim of JWTs; and tables of the CHANGELOG that give an old name with its
 * new one.
 */
const ALLOWED = /[`'"]nobody[`'"]|\bNOBODY\b|\baudience: API\b|^\| .*\| .*\|$|is called the \*\*/;

function filesIn(place: string): string[] {
  const at = path.join(ROOT, place);
  if (/\.\w+$/.test(place)) return [place];
  return readdirSync(at, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:ts|tsx|md|sql|html|css)$/.test(entry.name))
    .map((entry) => path.relative(ROOT, path.join(entry.parentPath, entry.name)))
    .filter((file) => file !== LIST);
}

test.each(CHECKED)('%s speaks the language of the field', (place) => {
  const found = filesIn(place).flatMap((file) =>
    readFileSync(path.join(ROOT, file), 'utf8')
      .split('\n')
      .flatMap((line, at) =>
        OLD_WORDS.filter(([word]) => word.test(line) && !ALLOWED.test(line)).map(
          ([word, instead]) => `${file}:${at + 1}: ${word.exec(line)?.[0]} (write: ${instead})`,
        ),
      ),
  );
  expect(found).toEqual([]);
});
