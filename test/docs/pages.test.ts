// The pages as a whole: each is in the index, each link leads somewhere, and each can be read in a terminal.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { PAGES, ROOT, faultOf, filesBelow, linksOf, prose, read, rowsOf, section } from './markdown.ts';

const INDEX = 'docs/README.md';
const DECISIONS = 'docs/decisions/README.md';

/** The files to which a page links, from the root of the repository. */
function linkedFrom(page: string): string[] {
  return linksOf(page).map(({ target }) => path.join(path.dirname(page), target));
}

describe('the index', () => {
  test('names every page of docs/ exactly once', () => {
    const pages = PAGES.filter((page) => ['docs', 'docs/guides'].includes(path.dirname(page)) && page !== INDEX);
    expect(pages).toContain('docs/guides/tools.md');
    const listed = linkedFrom(INDEX).filter((page) => pages.includes(page));
    expect(listed.toSorted()).toEqual(pages);
  });

  test('leads to the decisions, and the README leads to the index', () => {
    expect(linkedFrom(INDEX)).toContain(DECISIONS);
    expect(linkedFrom('README.md')).toContain(INDEX);
  });

  test('names the guide to tools, which is the first link of the README after the start', () => {
    const start = prose(read('README.md')).find(({ line }) => line === '## Start');
    const [first] = linksOf('README.md').filter(({ number }) => number > (start?.number ?? Infinity));
    expect(first).toMatchObject({ target: 'docs/guides/tools.md' });
    expect(linkedFrom(INDEX)).toContain(first?.target);
  });

  test('has five sections', () => {
    const headings = prose(read(INDEX)).flatMap(({ line }) => /^## (.+)$/.exec(line)?.[1] ?? []);
    expect(headings).toEqual(['Start', 'Guides', 'Reference', 'Concepts', 'Internals']);
  });
});

describe('decisions', () => {
  const files = PAGES.filter((page) => path.dirname(page) === 'docs/decisions' && page !== DECISIONS);

  test('are numbered without holes', () => {
    const numbers = files.map((file) => path.basename(file).slice(0, 4));
    expect(numbers).toEqual(files.map((_, at) => String(at + 1).padStart(4, '0')));
  });

  test('are listed with one line each, in order', () => {
    expect(linkedFrom(DECISIONS)).toEqual(files);
    expect(rowsOf(read(DECISIONS)).filter(([, line = '']) => line === '')).toEqual([]);
  });
});

test('the first line of each page tells what the reader gets from it', () => {
  const pages = PAGES.filter((page) => page.startsWith('docs/') && !page.startsWith('docs/decisions/0'));
  const first = (page: string): string => read(page).split('\n')[2] ?? '';
  expect(pages.filter((page) => !/^\p{Lu}[^|]{20}/u.test(first(page)))).toEqual([]);
});

test('every link within the repository leads to a file, and to a heading in it', () => {
  const links = PAGES.flatMap(linksOf);
  expect(links.length).toBeGreaterThan(200);
  expect(links.map(faultOf).filter((fault) => fault !== null)).toEqual([]);
});

test('every page of docs/ that code names exists', () => {
  const code = ['src', 'web/src', 'scripts', 'test', 'bench', 'examples', 'bin'].flatMap(filesBelow);
  const files = [...code, 'build.ts', 'bundle.ts', 'Dockerfile', 'docker-compose.yml', '.env.example'];
  const named = files
    .filter((file) => /\.(?:[cm]?[jt]sx?|css|html|yml|example)$|Dockerfile$/.test(file))
    .flatMap((file) => [...read(file).matchAll(/\bdocs\/[\w/-]+\.md\b/g)].map(([page]) => ({ file, page })));
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter(({ page }) => !existsSync(path.join(ROOT, page)))).toEqual([]);
});

test('every source file that a page names with its folder exists', () => {
  const folders = 'core|db|commands|workers|agent|api|events|tools|llm|cli|platform|bus|queue|config|schema';
  const pages = PAGES.filter((page) => page !== 'CHANGELOG.md');
  const named = pages.flatMap((page) =>
    [...read(page).matchAll(new RegExp(`\`((?:${folders})/[\\w/-]+)(\\.ts)?\``, 'g'))]
      .filter(([, , extension]) => extension !== undefined || page === 'docs/lifecycle.md')
      .map(([, file = '']) => ({ page, file })),
  );
  expect(named.length).toBeGreaterThan(60);
  const places = (file: string): string[] => ['.ts', ''].map((end) => path.join(ROOT, 'src', `${file}${end}`));
  expect(named.filter(({ file }) => !places(file).some(existsSync))).toEqual([]);
});

test('lines have at most 125 columns, except in tables and code', () => {
  const long = PAGES.flatMap((page) =>
    prose(read(page))
      .filter(({ line }) => line.length > 125 && !line.startsWith('|'))
      .map(({ number }) => `${page}:${number}`),
  );
  expect(long).toEqual([]);
});

describe('the glossary', () => {
  const terms = rowsOf(read('docs/glossary.md')).map(([term = '']) => /^\*\*(.+)\*\*$/.exec(term)?.[1] ?? term);

  test('lists each term once', () => {
    expect(terms.length).toBeGreaterThan(40);
    expect([...new Set(terms)]).toEqual(terms);
  });

  test('lists no term that the code and the other pages do not use', () => {
    const pages = PAGES.filter((page) => page !== 'docs/glossary.md').map(read);
    const sources = filesBelow('src').filter((file) => file.endsWith('.ts'));
    // `JobOutcome` and `context-feed.ts` are uses too.
    const plain = (text: string): string => text.toLowerCase().replaceAll(/[\s_-]+/g, '');
    const text = plain([...pages, ...sources.map(read)].join('\n'));
    expect(terms.filter((term) => !text.includes(plain(term)))).toEqual([]);
  });
});

test('the sections of the index have a table each', () => {
  for (const name of ['Start', 'Guides', 'Reference', 'Concepts', 'Internals'])
    expect(rowsOf(section(INDEX, name)).length).toBeGreaterThan(2);
});
