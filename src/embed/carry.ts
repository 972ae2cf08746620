/**
 * Requests to an HTTP server that does not listen: each goes over a connection within the process, so that streams, slow
 * readers and clients that leave reach the server as over a network.
 */
import type { ClientRequest, IncomingMessage, Server } from 'node:http';
import { Readable, duplexPair, type Duplex } from 'node:stream';
import { http } from '../node-http.ts';

export type Carried = {
  method: string;
  /** Path and query, as the server sees them. */
  url: string;
  headers: Headers;
  body: ReadableStream<Uint8Array> | string | null;
  signal: AbortSignal | null;
};

/** Of the connection between two hosts: the server's own response and request set them. */
const OF_CONNECTION = ['connection', 'expect', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade'];

/** Statuses whose response has no body. */
const WITHOUT_BODY = [204, 205, 304];

/** The address of clients, for what counts by address: such a request comes from this machine. */
const THIS_MACHINE = '127.0.0.1';

/** `onConnection` gets the server's end before it reads. Rejects with the reason of the signal. */
export async function carry(
  server: Server,
  request: Carried,
  onConnection: (connection: object) => void,
): Promise<Response> {
  const { method, url, signal } = request;
  signal?.throwIfAborted();
  const [near, far] = connect();
  // First: it throws for headers that are not valid.
  const sent = http.request({ createConnection: () => near, method, path: url, headers: headersOf(request) });
  onConnection(far);
  server.emit('connection', far);
  const leave = (): void => void sent.destroy(reasonOf(signal));
  signal?.addEventListener('abort', leave, { once: true });
  near.once('close', () => signal?.removeEventListener('abort', leave));
  send(sent, request);
  return toResponse(await responseTo(sent), method);
}

/** Two ends of a connection. When one is closed, so is the other. */
function connect(): [Duplex, Duplex] {
  const [near, far] = duplexPair();
  near.once('close', () => far.destroy());
  far.once('close', () => near.destroy());
  return [near, Object.assign(far, { remoteAddress: THIS_MACHINE })];
}

function reasonOf(signal: AbortSignal | null): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new Error('The request was aborted.');
}

/** They tell the length of the body: `node:http` does not add it to every method. */
function headersOf({ headers, body }: Carried): Record<string, string> {
  const { 'content-length': length, ...others } = Object.fromEntries(
    [...headers].filter(([name]) => !OF_CONNECTION.includes(name)),
  );
  if (body === null) return others;
  if (typeof body === 'string') return { ...others, 'content-length': String(Buffer.byteLength(body)) };
  return length === undefined ? { ...others, 'transfer-encoding': 'chunked' } : { ...others, 'content-length': length };
}

function send(sent: ClientRequest, { body }: Carried): void {
  if (body === null || typeof body === 'string') return void sent.end(body ?? undefined);
  const read = Readable.fromWeb(body);
  read.once('error', (error) => sent.destroy(error));
  sent.once('close', () => read.destroy());
  read.pipe(sent);
}

function responseTo(sent: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    sent.once('response', resolve);
    // Stays: later errors reach the reader of the body.
    sent.on('error', reject);
  });
}

function toResponse(received: IncomingMessage, method: string): Response {
  const status = received.statusCode ?? 500;
  const headers = new Headers();
  for (const [name, values] of Object.entries(received.headersDistinct))
    if (!OF_CONNECTION.includes(name)) for (const value of values ?? []) headers.append(name, value);
  if (method === 'HEAD' || WITHOUT_BODY.includes(status)) {
    received.resume();
    return new Response(null, { status, headers });
  }
  return new Response(toWeb(received), { status, headers });
}

/** Reads no further ahead than a part, so that a slow reader slows the server down. */
function toWeb(received: Readable): ReadableStream<Uint8Array> {
  return Readable.toWeb(received) as ReadableStream<Uint8Array>;
}
