/**
 * Sends a file to the import as it is, and tells how much of it has gone. By XMLHttpRequest: `fetch` does not tell of what it
 * sends, and a file of many megabytes need not be parsed here.
 */
import { NightshiftError } from 'nightshift/client';
import type { Context, Problem } from 'nightshift/client';

/** `share`: of the bytes, 0 to 1; at 1 the API reads them. Rejects with a `NightshiftError`, or with the reason of the signal. */
export function importFile(
  body: Blob,
  { signal, onProgress }: { signal: AbortSignal; onProgress: (share: number) => void },
): Promise<Context> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', '/api/contexts/import');
    request.setRequestHeader('content-type', 'application/json');
    request.upload.addEventListener('progress', ({ loaded, total }) =>
      onProgress(total > 0 ? loaded / total : 1),
    );
    request.addEventListener('load', () => {
      if (request.status === 201) resolve(JSON.parse(request.responseText) as Context);
      else reject(toError(request));
    });
    request.addEventListener('error', () =>
      reject(
        new NightshiftError(
          'unreachable',
          'The file was not taken whole: the API could not be reached, or hung up.',
        ),
      ),
    );
    signal.addEventListener('abort', () => {
      request.abort();
      reject(signal.reason as Error);
    });
    request.send(body);
  });
}

function toError({ status, responseText }: XMLHttpRequest): NightshiftError {
  const problem = parse(responseText);
  if (problem === null)
    return new NightshiftError('unexpected_answer', `The answer was ${status}, and no problem of the API.`, {
      status,
    });
  const { code, message, param } = problem.error;
  return new NightshiftError(code, message, { status, param });
}

function parse(text: string): Problem | null {
  try {
    const said: Partial<Problem> | null = JSON.parse(text);
    return typeof said?.error?.code === 'string' ? (said as Problem) : null;
  } catch {
    return null;
  }
}

/**
 * The files of a folder of the old layout as one body. Their names are taken below the folder that holds `metadata.json`.
 * Throws with the name of a file that is no JSON.
 */
export async function folderBody(files: readonly File[]): Promise<Blob> {
  const named = files.map((file) => ({ file, path: file.webkitRelativePath || file.name }));
  const metadata = named.find(({ path }) => path.split('/').at(-1) === 'metadata.json');
  if (metadata === undefined) throw new Error('There is no metadata.json in this folder.');
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
    throw new Error(`${path} is damaged: it is no JSON.`, { cause });
  }
}
