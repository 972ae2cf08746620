/**
 * Uploads a file to the import endpoint without parsing it, and reports the progress. Uses XMLHttpRequest because
 * `fetch` reports no upload progress.
 */
import { NightshiftError, type Context, type Problem } from 'nightshift/client';
import { importFileWords } from '../../words.ts';

/**
 * `share` is the uploaded part of the bytes, 0 to 1; at 1 the API processes the file. Rejects with a `NightshiftError`,
 * or with the reason of the signal.
 */
export function importFile(
  body: Blob,
  { signal, onProgress }: { signal: AbortSignal; onProgress: (share: number) => void },
): Promise<Context> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', '/api/contexts/import');
    request.setRequestHeader('content-type', 'application/json');
    request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 1));
    request.addEventListener('load', () => {
      if (request.status === 201) resolve(JSON.parse(request.responseText) as Context);
      else reject(toError(request));
    });
    request.addEventListener('error', () => reject(new NightshiftError('unreachable', importFileWords.interrupted)));
    signal.addEventListener('abort', () => {
      request.abort();
      reject(signal.reason as Error);
    });
    request.send(body);
  });
}

function toError({ status, responseText }: XMLHttpRequest): NightshiftError {
  const problem = parse(responseText);
  if (problem === null) return new NightshiftError('unexpected_answer', importFileWords.noMessage(status), { status });
  const { code, message, param, errors = [] } = problem.error;
  return new NightshiftError(code, message, { status, param, errors });
}

function parse(text: string): Problem | null {
  try {
    const parsed: Partial<Problem> | null = JSON.parse(text);
    return typeof parsed?.error?.code === 'string' ? (parsed as Problem) : null;
  } catch {
    return null;
  }
}

/**
 * Combines the files of a folder in the legacy layout into one request body. Paths are relative to the folder that
 * contains `metadata.json`. Throws with the name of a file that is not valid JSON.
 */
export async function folderBody(files: readonly File[]): Promise<Blob> {
  const named = files.map((file) => ({ file, path: file.webkitRelativePath || file.name }));
  const metadata = named.find(({ path }) => path.split('/').at(-1) === 'metadata.json');
  if (metadata === undefined) throw new Error(importFileWords.noMetadata);
  const root = metadata.path.slice(0, -'metadata.json'.length);
  const parsed: Record<string, unknown> = {};
  for (const { file, path } of named) {
    if (!path.startsWith(root) || !path.endsWith('.json')) continue;
    parsed[path.slice(root.length)] = parseFile(path, await file.text());
  }
  return new Blob([JSON.stringify({ files: parsed })], { type: 'application/json' });
}

function parseFile(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error(importFileWords.notJson(path), { cause });
  }
}
