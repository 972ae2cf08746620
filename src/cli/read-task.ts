/** Reads the input of a command from an argument, standard input or a file. */
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { CommandError, EXIT } from './exit.ts';

/** Returns the task. Throws if it is empty. */
export async function readTask(task: string | undefined, file: string | undefined): Promise<string> {
  if (task !== undefined && file !== undefined)
    throw new CommandError(EXIT.usage, 'Pass either a text or --file, not both.');
  const content = await readGiven(task, file);
  if (content.trim() === '') throw new CommandError(EXIT.usage, 'The text is empty.');
  return content;
}

async function readGiven(task: string | undefined, file: string | undefined): Promise<string> {
  if (file !== undefined && file !== '-') return readText(file);
  if (task === '-' || file === '-') return text(process.stdin);
  if (task !== undefined) return task;
  throw new CommandError(
    EXIT.usage,
    'No text given. Pass it as an argument, - for standard input, or --file <file>.',
  );
}

export async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new CommandError(EXIT.usage, `Cannot read ${file} (${why}).`);
  }
}

/** `source`: the name of the input, for errors. The receiver validates the value. */
export function parseJsonOf<T>(content: string, source: string): T {
  try {
    return JSON.parse(content) as T;
  } catch {
    throw new CommandError(EXIT.usage, `${source} is not valid JSON.`);
  }
}
