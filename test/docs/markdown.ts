// Reads the pages of the repository: their text without code, links, headings and tables.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

export const ROOT = path.join(import.meta.dirname, '../..');

/** Where pages are: files, and folders with all below them. */
const PLACES = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'docs', 'examples', '.github'];

export const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

/** Every file below a folder, from the root of the repository. */
export function filesBelow(folder: string): string[] {
  return readdirSync(path.join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(ROOT, path.join(entry.parentPath, entry.name)))
    .filter((file) => !file.includes('node_modules'));
}

export const PAGES = PLACES.flatMap((place) => (place.endsWith('.md') ? [place] : filesBelow(place)))
  .filter((file) => file.endsWith('.md'))
  .sort();

/** The lines outside of fenced code, each with its number from 1. */
export function prose(text: string): { line: string; number: number }[] {
  let fence: string | null = null;
  return text.split('\n').flatMap((line, at) => {
    const [mark] = /^\s*(?:```+|~~~+)/.exec(line) ?? [];
    if (mark === undefined) return fence === null ? [{ line, number: at + 1 }] : [];
    fence = fence === null ? mark.trim() : line.trim().startsWith(fence) ? null : fence;
    return [];
  });
}

export type Link = { file: string; number: number; target: string };

/** The links of a page, outside of code. */
export function linksOf(file: string): Link[] {
  return prose(read(file)).flatMap(({ line, number }) =>
    [...line.replace(/`[^`]*`/g, (code) => '.'.repeat(code.length)).matchAll(/\]\(([^)\s]+)[^)]*\)/g)].map(
      ([, target = '']) => ({ file, number, target }),
    ),
  );
}

/** The anchors of a page, as GitHub makes them from its headings. */
export function anchorsOf(file: string): Set<string> {
  const used = new Map<string, number>();
  const anchors = new Set<string>();
  for (const { line } of prose(read(file))) {
    const [, heading] = /^#{1,6} +(.+?) *#*$/.exec(line) ?? [];
    if (heading === undefined) continue;
    const slug = slugOf(heading);
    const before = used.get(slug) ?? 0;
    used.set(slug, before + 1);
    anchors.add(before === 0 ? slug : `${slug}-${before}`);
  }
  return anchors;
}

function slugOf(heading: string): string {
  return heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}\p{Pc} -]/gu, '')
    .replaceAll(' ', '-');
}

/** Null: the link leads to a file, and a heading in it, that exist; or it leads to the web. */
export function faultOf({ file, number, target }: Link): string | null {
  if (/^(?:https?|mailto):/.test(target)) return null;
  const [place = '', anchor] = target.split('#', 2);
  const to = place === '' ? file : path.join(path.dirname(file), decodeURIComponent(place));
  const at = `${file}:${number}: ${target}`;
  if (!existsSync(path.join(ROOT, to))) return `${at}: the file ${to} does not exist`;
  if (anchor === undefined) return null;
  return anchorsOf(to).has(anchor) ? null : `${at}: ${to} has no heading #${anchor}`;
}

/** The cells of every row of the tables in a part of a page, without the heads. */
export function rowsOf(text: string): string[][] {
  const lines = prose(text).map(({ line }) => line);
  return lines
    .filter((line, at) => line.startsWith('|') && !isRule(line) && !isRule(lines[at + 1]))
    .map((line) =>
      line
        .replaceAll('\\|', '\u{0}')
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('\u{0}', '|')),
    );
}

function isRule(line: string | undefined): boolean {
  return line !== undefined && /^\|[-:| ]+\|$/.test(line);
}

/** The text under a heading, with its subsections and without code. */
export function section(file: string, heading: string): string {
  const lines = prose(read(file)).map(({ line }) => line);
  const at = lines.findIndex((line) => depthOf(line) > 0 && line.replace(/^#+ /, '') === heading);
  const depth = depthOf(lines[at] ?? '');
  if (depth === 0) throw new Error(`${file} has no heading "${heading}".`);
  const below = lines.slice(at + 1);
  const end = below.findIndex((line) => depthOf(line) > 0 && depthOf(line) <= depth);
  return below.slice(0, end === -1 ? below.length : end).join('\n');
}

/** Of a heading, from 1; 0: another line. */
function depthOf(line: string): number {
  return /^(#{1,6}) /.exec(line)?.[1]?.length ?? 0;
}

/** `` `name` `` in a cell of a table. */
export function codes(cell: string | undefined): string[] {
  return [...(cell ?? '').matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
}
