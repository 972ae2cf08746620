// What a browser loads before it knows the page: no text of a single page is in it.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const ROOT = path.join(import.meta.dirname, '../..');
/** Where the setup of these tests builds the console. */
const BUILT = path.join(ROOT, '.nightshift/web');
const PAGES = path.join(ROOT, 'web/src/words/pages');

const read = (file: string): string => readFileSync(path.join(BUILT, file), 'utf8');

/** Sentences of at least 20 characters, which a minifier writes as they are. */
function sentencesIn(words: unknown): string[] {
  if (typeof words === 'string') return /^[\w ,.:;()-]{20,}$/.test(words) ? [words] : [];
  return typeof words === 'object' && words !== null ? Object.values(words).flatMap(sentencesIn) : [];
}

/** Areas of words that are tabs of a page. */
const PAGE_OF: Readonly<Record<string, string>> = {
  audit: 'access',
  'mcp-servers': 'settings',
  'tool-catalogue': 'settings',
  webhooks: 'settings',
};

test('the texts of a page are loaded with that page', async () => {
  const scripts = readdirSync(path.join(BUILT, 'assets')).filter((file) => file.endsWith('.js'));
  const scriptsIn = (html: string) => [...read(html).matchAll(/\/assets\/([^"]+\.js)"/g)].map(([, file = '']) => file);
  const first = scriptsIn('index.html');
  expect(first.length).toBeGreaterThan(0);
  const pages = readdirSync(PAGES, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  for (const file of pages) {
    const words: unknown = await import(path.join(PAGES, file));
    const sentences = sentencesIn(words);
    expect(sentences.length, file).toBeGreaterThan(0);
    const holding = scripts.filter((script) =>
      sentences.every((sentence) => read(`assets/${script}`).includes(sentence)),
    );
    expect(holding.length, file).toBe(1);
    expect(first, file).not.toContain(holding[0]);
    // The HTML of a page names it, so that the browser need not run the entry first.
    const [area = ''] = file.split(/[./\\]/);
    expect(scriptsIn(`pages/${PAGE_OF[area] ?? area}.html`), file).toContain(holding[0]);
  }
});

test('the styles of a page come after those that it shares with others', () => {
  const styles = new Map(
    readdirSync(path.join(BUILT, 'pages')).map((html) => [
      html,
      [...read(`pages/${html}`).matchAll(/\/assets\/([^"]+\.css)"/g)].map(([, file = '']) => file),
    ]),
  );
  const pagesWith = (file: string) => [...styles.values()].filter((files) => files.includes(file)).length;
  expect(Math.max(...[...styles.values()].map(({ length }) => length))).toBeGreaterThan(2);
  for (const [html, files] of styles) {
    const counts = files.map(pagesWith);
    expect(counts, `${html}: ${files.join(', ')}`).toEqual(counts.toSorted((a, b) => b - a));
  }
});
