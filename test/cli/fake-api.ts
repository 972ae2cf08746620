// An API that gives prepared answers and remembers what it was asked, for commands that need no platform.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { runProgram } from '../../src/cli/program.ts';

export type FakeApi = {
  url: string;
  /** Of the commands. */
  env: Record<string, string>;
  /** Answers by method and path, such as `GET /api/jobs`; all else is not found. */
  answers: Map<string, (query: URLSearchParams) => object>;
  /** Requests other than reads, in their order. */
  writes: string[];
  run(...args: string[]): Promise<{ code: number; out: string; err: string }>;
  close(): void;
};

/** `port` 0: any free one. */
export async function openFakeApi(port = 0): Promise<FakeApi> {
  const answers: FakeApi['answers'] = new Map();
  const writes: string[] = [];
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://fake');
    const asked = `${request.method} ${pathname}`;
    if (request.method !== 'GET') writes.push(asked);
    const answer = answers.get(asked);
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer?.(searchParams) ?? { error: { code: 'not_found', message: asked } }));
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env: Record<string, string> = { NIGHTSHIFT_URL: url };
  return {
    url,
    env,
    answers,
    writes,
    async run(...args) {
      const [stdout, stderr] = [new PassThrough(), new PassThrough()];
      const outputs = Promise.all([text(stdout), text(stderr)]);
      const code = await runProgram(args, { stdin: Readable.from([]), stdout, stderr, env });
      stdout.end();
      stderr.end();
      const [out, err] = await outputs;
      return { code, out, err };
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** An id that ends with the number. */
export function idOf(n: number): string {
  return `01a20228-0000-7000-8000-${String(n).padStart(12, '0')}`;
}
