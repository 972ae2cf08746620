// The pages for users, found on disk, and their code blocks. The first word behind a fence is the language; a further
// word says what a block is (`json Job`), which file it is, for other blocks of its page to import (`ts shop/data.ts`),
// or that it needs what a test does not have (`sh outside`). A comment `<!-- given: … -->` right before a block declares
// what the block takes for granted; readers do not see it.
import { PAGES, read } from './markdown.ts';

export type Block = {
  /** `docs/cli.md` */
  page: string;
  /** Of its first line of text, from 1. */
  line: number;
  language: string;
  words: readonly string[];
  text: string;
  given: string;
};

/** `docs/cli.md:12` */
export const placeOf = ({ page, line }: Pick<Block, 'page' | 'line'>): string => `${page}:${line}`;

export const GUIDES = PAGES.filter((page) => /^(?:README|examples\/README|docs\/(?:guides\/)?[\w-]+)\.md$/.test(page));

const FENCE = /^(?<indent> *)(?<fence>`{3,}|~{3,})(?<info>.*)$/;
const GIVEN = '<!-- given:';

export function blocksOf(page: string, text = read(page)): Block[] {
  const lines = text.split('\n');
  const blocks: Block[] = [];
  let given = '';
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const { indent = '', fence = '', info = '' } = FENCE.exec(line)?.groups ?? {};
    if (line.startsWith(GIVEN)) {
      const end = lines.findIndex((one, index) => index >= at && one.endsWith('-->'));
      given = lines
        .slice(at, end + 1)
        .join('\n')
        .slice(GIVEN.length, -'-->'.length)
        .trim();
      at = end;
    } else if (fence !== '') {
      const end = lines.findIndex((one, index) => index > at && one.trim() === fence);
      if (end === -1) throw new Error(`${page}:${at + 1}: this block has no end`);
      const [language = '', ...words] = info.trim().split(/\s+/);
      const inside = lines.slice(at + 1, end).map((one) => one.slice(indent.length));
      blocks.push({ page, line: at + 2, language, words, text: `${inside.join('\n')}\n`, given });
      at = end;
      given = '';
    } else if (line.trim() !== '') given = '';
  }
  return blocks;
}

export const BLOCKS: readonly Block[] = GUIDES.flatMap((page) => blocksOf(page));

/** The file of a page that a block is; null: it has no name. */
export const fileNameOf = ({ language, words }: Block): string | null =>
  words.find((word) => (language === 'ts' && word.endsWith('.ts')) || (language === 'ini' && word === '.env')) ?? null;

export const blocksIn = (...languages: readonly string[]): Block[] =>
  BLOCKS.filter(({ language }) => languages.includes(language));
