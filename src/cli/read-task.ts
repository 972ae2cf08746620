/** What a command is given to read: an argument, standard input, or a file. */
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { CommandError, EXIT } from './exit.ts';

/** The text, of which something must be there. */
export async function readTask(task: string | undefined, file: string | undefined): Promise<string> {
  if (task !== undefined && file !== undefined)
    throw new CommandError(EXIT.usage, 'Give a task or --file, not both.');
  const content = await readGiven(task, file);
  if (content.trim() === '') throw new CommandError(EXIT.usage, 'The task is empty.');
  return content;
}

async function readGiven(task: string | undefined, file: string | undefined): Promise<string> {
  if (file !== undefined && file !== '-') return readText(file);
  if (task === '-' || file === '-') return text(process.stdin);
  if (task !== undefined) return task;
  throw new CommandError(
    EXIT.usage,
    'Say what is to be done: nightshift run "task", - for standard input, or --file.',
  );
}

export async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new CommandError(EXIT.usage, `${file} cannot be read (${why}).`);
  }
}

/** `source`: what it was read from. What it is, whoever is sent it finds out. */
export function parseJsonOf<T>(content: string, source: string): T {
  try {
    return JSON.parse(content) as T;
  } catch {
    throw new CommandError(EXIT.usage, `${source} is no JSON.`);
  }
}
