// Compiles blocks of the documentation against the package: TypeScript as modules, JSON as values of the API's types.
// One run of the compiler serves all.
import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { operationOf } from './known.ts';
import { fileNameOf, placeOf, type Block } from './blocks.ts';
import { ROOT } from './markdown.ts';

/** Puts a file per module, and a project, into the folder. Returns what the compiler says, with places on the pages. */
export function faultsOfTypes(folder: string, modules: readonly Module[]): string[] {
  prepare(folder);
  const files = modules.map((module) => ({ ...module, file: fileOf(module) }));
  for (const { file, text } of files) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), text);
  }
  const { stdout } = spawnSync(path.join(ROOT, 'node_modules/.bin/tsc'), ['--pretty', 'false', '-p', folder], {
    cwd: folder,
    encoding: 'utf8',
  });
  const said = (line: string): string =>
    line.replace(/^(\S+)\((\d+),\d+\)/, (_, file: string, at: string) => {
      const { page = file } = files.find((one) => one.file === file) ?? {};
      return placeOf({ page, line: Number(at) });
    });
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map(said);
}

/** `text` has each line at the number that it has on the page. `name`: within the files of its page; null: none. */
type Module = { page: string; line: number; name: string | null; text: string };

export const modulesOf = (blocks: readonly Block[]): Module[] =>
  blocks.flatMap((block) => {
    const text = textOf(block);
    return text === null ? [] : { page: block.page, line: block.line, name: fileNameOf(block), text };
  });

function textOf(block: Block): string | null {
  switch (block.language) {
    case 'ts':
      return placed(block, `${block.given} export {};`, block.text);
    case 'json':
      return valueOf(block);
    case 'text':
      return requestsOf(block);
    default:
      return null;
  }
}

const fileOf = ({ page, line, name }: Module): string =>
  `${page.replaceAll(/\W/g, '-')}/${name ?? `${String(line).padStart(5, '0')}.ts`}`;

function prepare(folder: string): void {
  mkdirSync(folder, { recursive: true });
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
  writeFileSync(path.join(folder, 'package.json'), '{"type": "module"}');
  const paths = {
    nightshift: [path.join(ROOT, 'src/index.ts')],
    'nightshift/client': [path.join(ROOT, 'src/client/index.ts')],
    'nightshift/testing': [path.join(ROOT, 'src/testing/index.ts')],
  };
  const project = {
    extends: path.join(ROOT, 'tsconfig.json'),
    compilerOptions: {
      paths,
      typeRoots: [path.join(ROOT, 'node_modules/@types')],
      // A page may name what it does not go on to use.
      noUnusedLocals: false,
      noUnusedParameters: false,
    },
    include: ['**/*.ts'],
  };
  writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify(project));
}

const placed = ({ line }: Block, head: string, text: string): string =>
  `${head.replaceAll('\n', ' ')}${'\n'.repeat(line - 1)}${text}`;

/** The block of `json Job` is a value of the client's type `Job`. */
function valueOf(block: Block): string {
  const [type = 'Json'] = block.words;
  return placed(block, `import type { ${type} } from 'nightshift/client'; export const value: ${type} =`, block.text);
}

const REQUEST = /^(GET|POST|PUT|PATCH|DELETE) +(\/\S+)/;
const PARTS = [
  "import type { Operations } from 'nightshift/client';",
  'export type Part<T> = T extends (infer One)[] ? Part<One>[]',
  ': T extends object ? { [Key in keyof T]?: Part<T[Key]> } : T;',
].join(' ');

/**
 * Lines such as `POST /api/chat   {"message": "…"}   → 202 {"job_id": "…"}`: the operation exists, the first object is
 * its body (of a GET, its answer), and an object behind the arrow is a part of its answer. `…` stands for what is left
 * out.
 */
function requestsOf(block: Block): string {
  const lines = block.text.split('\n').map((line, index, all) => {
    const [, method = '', url = ''] = REQUEST.exec(line) ?? [];
    if (url === '') return '';
    const operation = operationOf(method, url);
    if (operation === null) return `export const operation${index}: keyof Operations = "${method} ${url}";`;
    const from = line.indexOf(url) + url.length;
    const [own = ''] = [line.slice(from), ...all.slice(index + 1)].join('\n').split(/\n(?=\S)/);
    const [before = '', after = ''] = own.split('→');
    const answer = `Part<Operations['${operation}']['answer']>`;
    const body = method === 'GET' ? answer : `Operations['${operation}']['body']`;
    return `${constant(index, 'body', body, before)}${constant(index, 'answer', answer, after)}`;
  });
  return placed(block, PARTS, lines.join('\n'));
}

function constant(index: number, name: string, type: string, text: string): string {
  const value = firstObject(text);
  return value === null ? '' : `export const ${name}${index}: ${type} = ${value.replaceAll('\n', ' ')}; `;
}

/** With `…` left out where it is no part of a text; null: there is no object. */
function firstObject(text: string): string | null {
  let depth = 0;
  let value = '';
  for (const [part] of text.slice(Math.max(0, text.indexOf('{'))).matchAll(/"(?:[^"\\]|\\.)*"|[^]/g)) {
    if (part === '{') depth += 1;
    if (depth === 0) return null;
    if (part === '}') depth -= 1;
    if (part !== '…') value += part;
    if (depth === 0) return value;
  }
  return null;
}
