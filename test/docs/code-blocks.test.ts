// Every code block of the pages for users, without running it: TypeScript compiles, JSON has the form that the API
// describes, shell scripts name commands, options, variables and files that exist, config files load.
// test/e2e/start/readme.test.ts runs what can run.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadConfigFile } from '../../src/tools/config/config-file.ts';
import { PLACEHOLDERS } from '../../src/tools/packages/secrets.ts';
import { removeFolder, temporaryFolder } from '../services/temporary-folder.ts';
import { faultOfVariable, faultsOfNames } from './known.ts';
import { BLOCKS, GUIDES, blocksIn, blocksOf, fileNameOf, placeOf, type Block } from './blocks.ts';
import { ROOT } from './markdown.ts';
import { faultsOfScript } from './script-faults.ts';
import { transcriptOf } from './shell.ts';
import { faultsOfTypes, modulesOf } from './typescript.ts';

/** Each with the words that may follow it. */
const LANGUAGES = new Map([
  ['ts', /^(?:outside|[\w/.-]+\.ts)$/],
  ['json', /^[A-Z]\w+$/],
  ['sh', /^outside$/],
  ['console', /^outside$/],
  ['sql', /^outside$/],
  ['yaml', null],
  ['ini', /^\.env$/],
  ['dockerfile', null],
  ['mermaid', null],
  ['text', null],
]);

let folder = '';
beforeAll(async () => {
  folder = await temporaryFolder();
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
});
afterAll(() => removeFolder(folder));

function write(file: string, text: string): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}

const WRONG_PAGE = 'page.md';
const WRONG = `
\`\`\`ts
import { defineConfig } from 'nightshift';
export default defineConfig({ rolls: {} });
\`\`\`

<!-- given:
declare const show: (count: number) => void;
-->

\`\`\`ts
show('one');
\`\`\`

\`\`\`json WaitingFor
{"kind": "walker", "tool_call_id": "…", "name": "spawn_worker"}
\`\`\`

\`\`\`text
POST /api/chat  {"massage": "hello"}   → 202 {"job_id": 1}
GET  /api/jobs/{id}                    {"status": "complete"}
POST /api/chats
\`\`\`
`;

const faultsIn = (blocks: readonly Block[], find: (block: Block) => readonly string[]): string[] =>
  blocks.flatMap((block) => find(block).map((fault) => `${placeOf(block)}: ${fault}`));

test('every block names a language that a test knows, and nothing else that no test reads', () => {
  expect(GUIDES.length).toBeGreaterThan(20);
  const unknown = BLOCKS.filter(
    ({ language, words }) =>
      !LANGUAGES.has(language) || !words.every((word) => LANGUAGES.get(language)?.test(word) ?? false),
  );
  const known = [...LANGUAGES.keys()].join(', ');
  expect(
    unknown.map((block) => `${placeOf(block)}: “${[block.language, ...block.words].join(' ')}” is none of ${known}`),
  ).toEqual([]);
});

/** What the compiler says of the pages, and of blocks that are wrong: one run for both, of which most reads the package. */
let compiled: { ofPages: string[]; ofWrong: string[] } | null = null;
function compile(): { ofPages: string[]; ofWrong: string[] } {
  if (compiled !== null) return compiled;
  const modules = modulesOf([...BLOCKS, ...blocksOf(WRONG_PAGE, WRONG)]);
  const faults = faultsOfTypes(path.join(folder, 'types'), modules);
  const isOfWrong = (fault: string): boolean => fault.startsWith(`${WRONG_PAGE}:`);
  compiled = { ofPages: faults.filter((fault) => !isOfWrong(fault)), ofWrong: faults.filter(isOfWrong) };
  return compiled;
}

test('TypeScript compiles, and JSON and requests are what the API describes', () => {
  expect(compile().ofPages).toEqual([]);
});

test('JSON can be parsed', () => {
  const fault = ({ text }: Block): string[] => {
    try {
      JSON.parse(text);
      return [];
    } catch (error) {
      return [String(error)];
    }
  };
  expect(faultsIn(blocksIn('json'), fault)).toEqual([]);
});

const CONFIGS = blocksIn('ts').filter(({ text }) => text.includes('defineConfig('));

test.each(CONFIGS.map((block) => [placeOf(block), block] as const))(
  'the platform takes the config file of %s',
  async (_, { page, line, given, text }) => {
    const files = path.join(folder, `${page.replaceAll(/\W/g, '-')}-${line}`);
    for (const block of blocksIn('ts').filter((one) => one.page === page)) {
      const name = fileNameOf(block);
      if (name !== null) write(path.join(files, name), block.text);
    }
    const file = path.join(files, 'the.config.ts');
    write(file, `${given}\n${text}`);
    await expect(loadConfigFile(folder, file, { secrets: PLACEHOLDERS })).resolves.toMatchObject({ path: file });
  },
);

test('shell scripts can be parsed, and what they name exists', () => {
  const ofConsole = ({ text }: Block): string[] => transcriptOf(text).flatMap(({ command }) => faultsOfScript(command));
  expect([
    ...faultsIn(blocksIn('sh'), ({ text }) => faultsOfScript(text)),
    ...faultsIn(blocksIn('console'), ofConsole),
  ]).toEqual([]);
});

test('YAML can be parsed', () => {
  for (const block of blocksIn('yaml')) expect(() => parse(block.text), placeOf(block)).not.toThrow();
});

test('settings of services name variables and commands that exist', () => {
  // A secret of a tool package has the name that the page's code gives it.
  const isOfPage = (page: string, name: string): boolean =>
    blocksIn('ts').some((block) => block.page === page && block.text.includes(`'${name}'`));
  const faults = ({ page, text }: Block): string[] =>
    text.split('\n').flatMap((line) => {
      const [, name, value = ''] = /^(?:Environment=)?"?([A-Z][A-Z_]+)=([^"]*)/.exec(line) ?? [];
      if (name !== undefined && isOfPage(page, name)) return [];
      const [, command] = /^Exec\w+=[-+!@:]*(.*)$/.exec(line) ?? [];
      if (name !== undefined) return faultOfVariable(name, value) ?? [];
      return command === undefined ? [] : faultsOfScript(command);
    });
  expect(faultsIn(blocksIn('ini'), faults)).toEqual([]);
});

test('every environment variable of the platform that a block names exists', () => {
  expect(faultsIn(BLOCKS, ({ text }) => faultsOfNames(text))).toEqual([]);
});

describe('a block that is wrong is found', () => {
  test('by the compiler, with its page and line', () => {
    expect(compile().ofWrong).toEqual(
      [
        /^page\.md:4: .*'rolls' does not exist/,
        /^page\.md:12: .*'string' is not assignable to parameter of type 'number'/,
        /^page\.md:16: .*"walker"/,
        /^page\.md:20: .*'"massage"' does not exist/,
        /^page\.md:20: .*'number' is not assignable to type 'string'/,
        /^page\.md:21: .*"complete"/,
        /^page\.md:22: .*"POST \/api\/chats"/,
      ].map((fault): unknown => expect.stringMatching(fault)),
    );
  });

  test.each([
    ['nightshift jobs --stattus failed', /unknown option '--stattus'/],
    ['nightshift jbos', /unknown command 'jbos'/],
    ['x=$(npx nightshift tree ada --depht 2)', /unknown option '--depht'/],
    ['NIGHTSHIFT_CONFIGS=a.ts npm start', /no environment variable NIGHTSHIFT_CONFIGS/],
    ['PORT=threethousand nightshift start', /^PORT must be a whole number/],
    ['npm run strat', /no script strat/],
    ['node examples/quickstrat.ts', /no file examples\/quickstrat\.ts/],
    ['curl -s http://127.0.0.1:3000/api/jbos', /the API has no operation \/api\/jbos/],
    ['curl -X PUT "$URL/api/jobs/$job"', /the API has no PUT \/api\/jobs/],
    ['echo "open', /unexpected EOF/],
  ])('by its words: %s', (script, fault) => {
    expect(faultsOfScript(`${script}\n`)).toContainEqual(expect.stringMatching(fault));
  });
});
