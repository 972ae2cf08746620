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
import { matchesIn } from './search.ts';
import type { Match } from './search.ts';
import { entriesIn, survey } from './survey.ts';
import { namesOf, openFile } from './walk.ts';
import type { Owner, Workspaces } from './workspaces.ts';
import { writeWhole } from './write.ts';

export const FILE_TOOLS = ['read_file', 'write_file', 'remove_file', 'list_files', 'search_files'] as const;

export type FileParts = { workspaces: Workspaces; limits: FileLimits; resultChars: number };

const LISTED = 1_000;
const MATCHES = 200;

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
      const { bytes, size, path } = await bytesOf(workspaces, owner, textIn(input, 'path'), limits.fileBytes);
      const whole = { content: textOf(bytes, path, size), size, truncated: bytes.length < size };
      const { result, cut } = fitting(whole, 'content', resultChars);
      return { ...result, truncated: result.truncated || cut };
    },
  });
}

async function bytesOf(workspaces: Workspaces, owner: Owner, path: string, most: number) {
  const { folders, name } = placeOf(path);
  const folder = await workspaces.open(owner, folders);
  try {
    const handle = await openFile(folder, name, path);
    try {
      const { size } = await handle.stat();
      const { buffer, bytesRead } = await handle.read({
        buffer: Buffer.alloc(Math.min(size, most)),
        position: 0,
      });
      return { bytes: buffer.subarray(0, bytesRead), size, path };
    } finally {
      await handle.close();
    }
  } finally {
    await folder.handle.close();
  }
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
      await changing(root, Math.max(1, content.length), limits, owner.signal, async () => {
        const folder = await workspaces.open(owner, folders, true);
        try {
          const { bytes, entries } = await writeWhole(folder, name, content, owner.idempotencyKey, path);
          return { delta: { bytes, entries: entries + folder.made } };
        } finally {
          await folder.handle.close();
        }
      });
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
      await changing(root, 0, limits, owner.signal, async () => {
        const folder = await workspaces.open(owner, folders);
        try {
          const gone = await removed(folder, name, input['recursive'] === true, path, owner.signal);
          ({ entries } = gone);
          return { delta: { bytes: -gone.bytes, entries: -gone.entries } };
        } finally {
          await folder.handle.close();
        }
      });
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
      const folder = await workspaces.open(owner, namesOf(textIn(input, 'path')));
      try {
        const { entries, more } = await entriesIn(folder, LISTED, owner.signal);
        return { entries: entries.map(({ name, type, size }) => ({ name, type, size })), truncated: more };
      } finally {
        await folder.handle.close();
      }
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
      const matches: Match[] = [];
      let room = resultChars - 100;
      const found = (more: readonly Match[]): boolean => {
        for (const match of more) {
          room -= JSON.stringify(match).length + 1;
          if (room < 0) return false;
          matches.push(match);
        }
        return matches.length < MATCHES;
      };
      const names = namesOf(textIn(input, 'path'));
      const { complete } = await survey(
        root,
        names,
        limits.entries,
        owner.signal,
        async (at, entries, folder) => {
          for (const { name, type, size } of entries) {
            owner.signal.throwIfAborted();
            if (type !== 'file' || size > limits.fileBytes) continue;
            const path = [...at, name].join('/');
            const handle = await openFile(folder, name, path).catch(() => null);
            if (handle === null) continue;
            try {
              const left = MATCHES - matches.length;
              if (!found(await matchesIn(handle, textIn(input, 'pattern'), path, left))) return false;
            } finally {
              await handle.close();
            }
          }
          return true;
        },
      );
      return { matches, truncated: !complete };
    },
  });
}

function placeOf(path: string): { folders: string[]; name: string } {
  const folders = namesOf(path);
  const name = folders.pop();
  if (name === undefined)
    throw new ToolFault('not_a_file', 'The path is the workspace itself; name a file in it.');
  return { folders, name };
}
