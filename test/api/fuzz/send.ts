// Sends a request over a socket and checks its answer: against the document, and by what the API logged.
import { setImmediate } from 'node:timers/promises';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Api, Body } from '../harness.ts';
import type { Sent } from './requests.ts';

/** Longer than the API's own limit in tests: a request that is cut off there has hung. */
const HANGS_MS = 90_000;
/** A stream is read for so long. */
const STREAM_MS = 20;
/** Of a log line of an unexpected error. */
const ERROR_LEVEL = 50;

export type Answer = { status: number; body: Body };

export type Sender = {
  /** Rejects with what is wrong with the answer. `credentials`: headers of the caller. */
  send(sent: Sent, credentials: Record<string, string>): Promise<Answer>;
  close(): void;
};

export async function openSender(api: Api): Promise<Sender> {
  await api.app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = api.app.server.address() as AddressInfo;
  const rejections: string[] = [];
  const keep = (reason: unknown): void => {
    rejections.push(reason instanceof Error ? (reason.stack ?? String(reason)) : String(reason));
  };
  // Test files run one after another in the same process: what an earlier one left behind is not of a request.
  await setImmediate();
  process.on('unhandledRejection', keep);
  /** Errors since the last call, also those that follow an answer at once. */
  const errors = async (): Promise<string> => {
    await setImmediate();
    const found = [...loggedBy(api), ...rejections.splice(0)];
    api.lines.length = 0;
    return found.join('\n');
  };

  return {
    async send({ method, url, headers, body }, credentials) {
      const late = await errors();
      if (late !== '') throw new Error(`After the answer to an earlier request the API failed: ${late}`);
      api.statements.length = 0;
      const answer = await exchange({ port, method, path: url, headers: { ...headers, ...credentials } }, body);
      const failed = await errors();
      if (answer.status >= 500) throw new Error(`It was answered with ${answer.status}. ${failed}`);
      if (failed !== '') throw new Error(`It was answered with ${answer.status}, and the API failed: ${failed}`);
      api.contract.check(method, url, answer);
      if (answer.status >= 400 && answer.body.status !== answer.status && method !== 'HEAD')
        throw new Error(`The status ${answer.status} is ${answer.body.status} in its body.`);
      return answer;
    },
    close: () => void process.off('unhandledRejection', keep),
  };
}

function loggedBy({ lines }: Api): string[] {
  const errors = lines.filter(({ level }) => Number(level) >= ERROR_LEVEL);
  return errors.map(({ err, msg }) => JSON.stringify(err ?? msg).slice(0, 1_000));
}

type Target = { port: number; method: string; path: string; headers: Record<string, string> };

/** On a connection of its own: none waits for another. */
async function exchange(target: Target, body: Sent['body']) {
  const response = await new Promise<IncomingMessage>((done, failed) => {
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const headers = { ...length, ...target.headers };
    const signal = AbortSignal.timeout(HANGS_MS);
    const sent = httpRequest({ ...target, headers, host: '127.0.0.1', agent: false, signal }, done);
    sent.on('error', failed);
    sent.end(body);
  });
  const headers = response.headers as Record<string, string>;
  const type = headers['content-type'] ?? '';
  const text = type.startsWith('text/event-stream') ? await beginningOf(response) : await wholeOf(response);
  return {
    status: response.statusCode ?? 0,
    headers,
    body: text !== '' && type.includes('json') ? JSON.parse(text) : text,
  };
}

async function wholeOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const coding = response.headers['content-encoding'];
  if (body.length === 0 || coding === undefined) return body.toString();
  return (coding === 'br' ? brotliDecompressSync(body) : gunzipSync(body)).toString();
}

/** A stream never ends by itself: the client disconnects. */
async function beginningOf(response: IncomingMessage): Promise<string> {
  let text = '';
  response.on('data', (chunk: Buffer) => (text += chunk.toString()));
  response.on('error', () => undefined);
  await new Promise((done) => setTimeout(done, STREAM_MS));
  response.destroy();
  return text;
}

/** A command that sends the same request; `$KEY` is that of the caller. */
export function curlOf({ method, url, headers, body, caller }: Sent): string {
  const shown = body === undefined ? headers : { 'content-type': '', ...headers };
  const options = Object.entries(shown).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`);
  const key = caller === 'none' ? [] : [`-H "authorization: Bearer $KEY_${caller.toUpperCase()}"`];
  const line = ['curl', '-i', '--path-as-is', '-X', method, ...key, ...options];
  const target = quote(`http://localhost:3000${url}`);
  if (body === undefined) return [...line, target].join(' ');
  if (typeof body === 'string' && !body.includes('\0'))
    return [...line, '--data-binary', quote(body), target].join(' ');
  return `echo ${Buffer.from(body).toString('base64')} | base64 -d | ${[...line, '--data-binary', '@-', target].join(' ')}`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
