/**
 * Tools for the files of a context's workspace. Paths are relative and cannot leave it. Links are listed and never
 * followed.
 */
import { ToolFault } from '../../run/tool-fault.ts';
import type { Tool } from '../../registry/tool.ts';
import { builtIn, textIn } from '../built-in.ts';
import { fitting } from '../fitting.ts';
import type { FileLimits } from './limits.ts';
import { removed } from './remove.ts';
import { changing } from './room.ts';
import { createMatches, searchFolder } from './search.ts';
import { entriesIn, survey } from './survey.ts';
import { inFolder, namesOf, openFile } from './walk.ts';
import type { Owner, Workspaces } from './workspaces.ts';
import { writeWhole } from './write.ts';

export const FILE_TOOLS = ['read_file', 'write_file', 'remove_file', 'list_files', 'search_files'] as const;

export type FileParts = { workspaces: Workspaces; limits: FileLimits; resultChars: number };

const LISTED = 1_000;

const PATH = { type: 'string', maxLength: 4_000, description: 'Relative to your workspace.' };

export function fileTools(parts: FileParts): Tool[] {
  return [readFile(parts), writeFile(parts), removeFile(parts), listFiles(parts), searchFiles(parts)];
}

function readFile({ workspaces, limits, resultChars }: FileParts): Tool {
  return builtIn({
    name: 'read_file',
    description: 'Reads a text file in your workspace. Very long files are cut (truncated: true).',
    properties: { path: { ...PATH, minLength: 1 } },
    required: ['path'],
    effect: 'none',
    async execute(input, owner) {
      const path = textIn(input, 'path');
      const { bytes, size } = await bytesOf(workspaces, owner, path, limits.fileBytes);
      const whole = { content: textOf(bytes, path, size), size, truncated: bytes.length < size };
      const { result, cut } = fitting(whole, 'content', resultChars);
      return { ...result, truncated: result.truncated || cut };
    },
  });
}

async function bytesOf(workspaces: Workspaces, owner: Owner, path: string, most: number) {
  const { folders, name } = placeOf(path);
  return inFolder(workspaces.open(owner, folders), async (folder) => {
    const handle = await openFile({ folder, name, at: path });
    try {
      const { size } = await handle.stat();
      const { buffer, bytesRead } = await handle.read({
        buffer: Buffer.alloc(Math.min(size, most)),
        position: 0,
      });
      return { bytes: buffer.subarray(0, bytesRead), size };
    } finally {
      await handle.close();
    }
  });
}

/** An incomplete character at the end is dropped. */
function textOf(bytes: Buffer, path: string, size: number): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true });
    if (!text.includes('\0')) return text;
  } catch {
    // Not UTF-8.
  }
  throw new ToolFault('binary_file', `${path} is not a UTF-8 text file (${size} bytes).`);
}

function writeFile({ workspaces, limits }: FileParts): Tool {
  return builtIn({
    name: 'write_file',
    description:
      'Writes a whole text file in your workspace and replaces an existing one. Missing directories are created.',
    properties: { path: { ...PATH, minLength: 1 }, content: { type: 'string' } },
    required: ['path', 'content'],
    effect: 'idempotent',
    async execute(input, owner) {
      const path = textIn(input, 'path');
      const { folders, name } = placeOf(path);
      const content = Buffer.from(textIn(input, 'content'));
      if (content.length > limits.fileBytes) {
        throw new ToolFault(
          'file_too_large',
          `The content has ${content.length} bytes; the limit for a file is ${limits.fileBytes}.`,
        );
      }
      const root = await workspaces.prepare(owner);
      await changing({ root, limits, signal: owner.signal }, Math.max(1, content.length), () =>
        inFolder(workspaces.open(owner, folders, true), async (folder) => {
          const target = { folder, name, at: path };
          const { bytes, entries } = await writeWhole(target, content, owner.idempotencyKey);
          return { delta: { bytes, entries: entries + folder.made } };
        }),
      );
      return { path, size: content.length };
    },
  });
}

function removeFile({ workspaces, limits }: FileParts): Tool {
  return builtIn({
    name: 'remove_file',
    description:
      'Removes a file, a link or an empty directory in your workspace; with recursive: true, a directory and everything in it.',
    properties: { path: { ...PATH, minLength: 1 }, recursive: { type: 'boolean' } },
    required: ['path'],
    effect: 'idempotent',
    async execute(input, owner) {
      const path = textIn(input, 'path');
      const { folders, name } = placeOf(path);
      const root = await workspaces.prepare(owner);
      let entries = 0;
      await changing({ root, limits, signal: owner.signal }, 0, () =>
        inFolder(workspaces.open(owner, folders), async (folder) => {
          const removedUsage = await removed({ folder, name, at: path }, input['recursive'] === true, owner.signal);
          ({ entries } = removedUsage);
          return { delta: { bytes: -removedUsage.bytes, entries: -removedUsage.entries } };
        }),
      );
      return { path, removed: entries };
    },
  });
}

function listFiles({ workspaces }: FileParts): Tool {
  return builtIn({
    name: 'list_files',
    description: 'Lists a directory in your workspace, without its subdirectories’ content.',
    properties: { path: PATH },
    required: [],
    effect: 'none',
    async execute(input, owner) {
      const opening = workspaces.open(owner, namesOf(textIn(input, 'path')));
      const { entries, more } = await inFolder(opening, (folder) => entriesIn(folder, LISTED, owner.signal));
      return { entries: entries.map(({ name, type, size }) => ({ name, type, size })), truncated: more };
    },
  });
}

function searchFiles({ workspaces, limits, resultChars }: FileParts): Tool {
  return builtIn({
    name: 'search_files',
    description:
      'Finds the lines that contain a text, in the files of your workspace or of a directory in it. The search is literal and case-sensitive: no wildcards, no regular expressions.',
    properties: {
      pattern: { type: 'string', minLength: 1, maxLength: 500, pattern: '^[^\\r\\n]*$' },
      path: PATH,
    },
    required: ['pattern'],
    effect: 'none',
    async execute(input, owner) {
      const root = await workspaces.prepare(owner);
      const { signal } = owner;
      const names = namesOf(textIn(input, 'path'));
      const matches = createMatches(resultChars - 100);
      const search = { text: textIn(input, 'pattern'), fileBytes: limits.fileBytes, signal };
      const { complete } = await survey({ root, names, most: limits.entries, signal }, (visited) =>
        searchFolder(search, visited, matches),
      );
      return { matches: matches.found, truncated: !complete };
    },
  });
}

function placeOf(path: string): { folders: string[]; name: string } {
  const folders = namesOf(path);
  const name = folders.pop();
  if (name === undefined) throw new ToolFault('not_a_file', 'The path is the workspace itself; name a file in it.');
  return { folders, name };
}
