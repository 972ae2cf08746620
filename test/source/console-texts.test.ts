// The texts of the console are in web/src/words: one place to read them in, and one word for one thing.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { findTexts } from './console-texts.ts';

const SOURCES = path.join(import.meta.dirname, '../../web/src');

const texts = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll(path.sep, '/'))
  .filter((file) => /\.tsx?$/.test(file) && !/^words(?:\.ts$|\/)/.test(file))
  .sort()
  .flatMap((file) =>
    findTexts(readFileSync(path.join(SOURCES, file), 'utf8')).map(
      ({ line, text }) => `web/src/${file}:${line}: ${text}`,
    ),
  );

describe('texts of the console', () => {
  test('are in web/src/words', () => {
    expect(texts).toEqual([]);
  });
});

describe('the finder of texts', () => {
  const found = (source: string): string[] => findTexts(source).map(({ line, text }) => `${line}: ${text}`);

  test('finds text between tags, in braces, and in attributes that people read', () => {
    const source = `function Item({ job, tools }: Props) {
      return (
        <section title="failed" aria-label={\`Job \${job.name}\`}>
          Delete the job{' '}
          {job.role ?? 'none'}, {tools.length} tools <TextField hint={isNew ? 'optional' : undefined} />
        </section>
      );
    }`;
    expect(found(source)).toEqual([
      '3: failed',
      '3: Job {}',
      '4: Delete the job',
      '5: none',
      '5: tools',
      '5: optional',
    ]);
  });

  test('finds strings and templates that read like text, and properties that people read', () => {
    const source = `
      showNotice('Role saved');
      const KINDS = [{ value: 'all', label: 'all' }, { value: 'none', label: NONE }];
      const text = count === 1 ? '1 job' : \`\${count} jobs\`;
      const state = isOpen ? 'Hide' : \`Show \${name}\`;
      const fault = () => { return 'Enter a name.'; };
    `;
    expect(found(source)).toEqual([
      '2: Role saved',
      '3: all',
      '4: 1 job',
      '4: {} jobs',
      '5: Hide',
      '5: Show {}',
      '6: Enter a name.',
    ]);
  });

  test('leaves out what is no text: names, keys, addresses, classes, selectors, types and errors of the console', () => {
    const source = `
      import { Page } from './the page.tsx';
      type Turn = 'Go on' | 'Stop';
      if (event.key === 'Enter') send(\`/api/jobs/\${id}?q=\${query}\`, faults.of(\`limits.\${name}\`));
      switch (key) { case 'Home': act('home_key'); }
      document.querySelector('main input[type="search"]');
      throw new Error('index.html has no element #root.');
      const box = <a className="wide box" rel="noopener noreferrer" {...more} data-here={here ? 'yes' : 'no'}>
        <code>limits.tenant</code> <kbd>Enter</kbd> · {total} / {size}
        <button aria-keyshortcuts={here ? 'Escape' : undefined} />
      </a>;
    `;
    expect(found(source)).toEqual([]);
  });
});
