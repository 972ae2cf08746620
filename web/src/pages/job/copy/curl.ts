/**
 * Commands for a shell that repeat what the console does with a job. They name the variable with the API key, never a key.
 * Pure.
 */
import type { ContentBlock, Job, Json } from 'nightshift/client';
import { jobWords } from '../../../words.ts';

/** `origin`: where the API is. `needsKey` false: it asks for no key. */
export type CurlTarget = { origin: string; needsKey: boolean };

const words = jobWords.commands;

/** Longer bodies, in bytes, are not an argument: systems limit the length of one, Linux to 128 KB. */
const MOST_OF_ARGUMENT = 100_000;
const END = 'END_OF_BODY';

/** Reads the job. */
export function curlOfRead(target: CurlTarget, { id }: Pick<Job, 'id'>): string {
  return lines([words.curl(quote(`${target.origin}/api/jobs/${id}`)), ...keyOf(target)]);
}

type Posted = Pick<Job, 'id' | 'context_id' | 'branch' | 'user'>;

/** Posts the input of the job once more, to the same context and branch, with the options of the job. */
export function curlOfInput(target: CurlTarget, job: Posted, content: readonly ContentBlock[]): string {
  const [only] = content;
  const isText = content.length === 1 && only?.type === 'text';
  const body = { content: isText ? only.text : [...content], ...optionsOf(job) };
  return curlOfPost(target, `/api/contexts/${job.context_id}/messages`, body);
}

/** Runs on the history of the context, with the options of the job. */
export function curlOfRetry(target: CurlTarget, job: Posted): string {
  return curlOfPost(target, `/api/contexts/${job.context_id}/jobs`, optionsOf(job));
}

function optionsOf({ id, branch, user }: Posted): { [name: string]: Json } {
  return { branch, ...(user === null ? {} : { user }), options_of: id };
}

function curlOfPost(target: CurlTarget, path: string, body: unknown): string {
  const text = JSON.stringify(body);
  const head = [words.curl(quote(`${target.origin}${path}`)), ...keyOf(target), words.jsonHeader];
  if (new TextEncoder().encode(text).length <= MOST_OF_ARGUMENT) return lines([...head, `--data-raw ${quote(text)}`]);
  // JSON on one line begins with a brace: it is not the end of the document.
  return `${lines([...head, `--data-binary @- <<'${END}'`])}\n${text}\n${END}`;
}

function keyOf({ needsKey }: CurlTarget): string[] {
  return needsKey ? [words.keyHeader] : [];
}

function lines(parts: readonly string[]): string {
  return parts.join(' \\\n  ');
}

/** For POSIX shells: between single quotes only the single quote has a meaning. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
