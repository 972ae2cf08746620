import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { carry, type Carried } from '../../src/embed/carry.ts';

/** Answers with what it received. */
const server = createServer((request, response) => {
  void text(request).then((body) =>
    response.end(JSON.stringify({ method: request.method, headers: request.headers, body })),
  );
});

type Received = { method: string; headers: Record<string, string>; body: string };

async function received(given: Partial<Carried>): Promise<Received> {
  const request = { method: 'POST', url: '/', body: null, signal: null, ...given };
  const headers = new Headers(given.headers);
  headers.set('host', 'in-process');
  const response = await carry(server, { ...request, headers }, () => undefined);
  return (await response.json()) as Received;
}

const streamOf = (body: string): ReadableStream<Uint8Array> => new Blob([body]).stream();

test('headers of the connection between two hosts are not sent on', async () => {
  const headers = new Headers({ expect: '100-continue', te: 'trailers', trailer: 'x-sum', 'x-own': 'kept' });
  const { headers: sent, body } = await received({ headers, body: streamOf('hello') });
  expect(body).toBe('hello');
  expect(sent).toMatchObject({ 'x-own': 'kept', 'transfer-encoding': 'chunked' });
  expect(Object.keys(sent)).not.toEqual(expect.arrayContaining(['expect']));
  expect(Object.keys(sent).filter((name) => ['te', 'trailer'].includes(name))).toEqual([]);
});

test.each(['POST', 'DELETE'])('the body of a %s request arrives, as a stream and as a text', async (method) => {
  expect(await received({ method, body: streamOf('hello') })).toMatchObject({ method, body: 'hello' });
  expect(await received({ method, body: 'héllo' })).toMatchObject({ method, body: 'héllo' });
});

test('a request without a body is not waited for, whatever length its headers name', async () => {
  const headers = new Headers({ 'content-length': '5' });
  expect(await received({ headers })).toMatchObject({ body: '' });
});

test('headers that are not valid leave no connection at the server', async () => {
  let connections = 0;
  const bad = { method: 'bad method', url: '/', headers: new Headers(), body: null, signal: null };
  await expect(carry(server, bad, () => void (connections += 1))).rejects.toThrow('Method must be a valid HTTP token');
  expect(connections).toBe(0);
});
