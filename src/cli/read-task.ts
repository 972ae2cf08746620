/** Reads the input of a command from an argument, standard input or a file. */
import { readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { CommandError, EXIT } from './exit.ts';

/** `-` as the task or the file is standard input. */
type Given = { task: string | undefined; file: string | undefined };

/** Returns the task. Throws if it is empty. */
export async function readTask(input: Readable, { task, file }: Given): Promise<string> {
  if (task !== undefined && file !== undefined)
    throw new CommandError(EXIT.usage, 'Pass either a text or --file, not both.');
  const content = await readGiven(input, { task, file });
  if (content.trim() === '') throw new CommandError(EXIT.usage, 'The text is empty.');
  return content;
}

async function readGiven(input: Readable, { task, file }: Given): Promise<string> {
  if (file !== undefined && file !== '-') return readText(file);
  if (task === '-' || file === '-') return text(input);
  if (task !== undefined) return task;
  throw new CommandError(EXIT.usage, 'No text given. Pass it as an argument, - for standard input, or --file <file>.');
}

/** The JSON value in a file, or with `-` in standard input. The receiver validates it. */
export async function readJson<T>(input: Readable, file: string): Promise<T> {
  return file === '-'
    ? parseJsonOf<T>(await text(input), 'Standard input')
    : parseJsonOf<T>(await readText(file), file);
}

export async function readText(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: unknown) => {
    throw fileError('read', file, error);
  });
}

export function fileError(what: 'read' | 'write', file: string, error: unknown): CommandError {
  const why = error instanceof Error && 'code' in error ? String(error.code) : String(error);
  return new CommandError(EXIT.usage, `Cannot ${what} ${file} (${why}).`);
}

/** `source`: the name of the input, for errors. The receiver validates the value. */
export function parseJsonOf<T>(content: string, source: string): T {
  try {
    return JSON.parse(content) as T;
  } catch {
    throw new CommandError(EXIT.usage, `${source} is not valid JSON.`);
  }
}
