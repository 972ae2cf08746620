/**
 * A fake provider over real HTTP on a loopback port: Anthropic's Messages (`/v1/messages`), OpenAI's Chat Completions
 * (`/v1/chat/completions`) and Responses (`/v1/responses`), streamed or whole. One handler gives the answer to each
 * request; answers can break in every way a network breaks. It records every request, and how it ended.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { isJsonObject, type Json } from '../../src/core/json.ts';
import { closeServer, listenLocally } from '../services/local-server.ts';
import { renderChat } from './fake/chat.ts';
import { renderMessages } from './fake/messages.ts';
import {
  event,
  isRecording,
  isStatus,
  renderRecording,
  speak,
  type FakeAnswer,
  type FakeReply,
  type FakeStatus,
  type Fault,
  type Format,
  type Rendered,
} from './fake/reply.ts';
import { readRequest, type FakeRequest } from './fake/request.ts';
import { renderResponses } from './fake/responses.ts';

export type {
  FakeAnswer,
  FakeCall,
  FakeRecording,
  FakeReply,
  FakeStatus,
  FakeUsage,
  Fault,
  Format,
} from './fake/reply.ts';
export { lastInput } from './fake/request.ts';
export type { FakeEntry, FakeRequest } from './fake/request.ts';

export type FakeHandler = (request: FakeRequest) => FakeReply | Promise<FakeReply>;

/** `ended`: the answer was sent as scripted (broken or not), or the client disconnected before that. */
export type Seen = FakeRequest & {
  ended: Promise<'as_scripted' | 'client_closed'>;
  /** Identifies the connection. */
  connection: number;
};

export type FakeProvider = {
  /** The `baseURL` of the Anthropic SDK. */
  anthropicURL: string;
  /** The `baseURL` of the OpenAI SDK. */
  openaiURL: string;
  requests: Seen[];
  /** Resolves with the `index`th request once it arrived. */
  seen(index: number): Promise<Seen>;
  /** The answer to the next requests. */
  answer(handler: FakeHandler | FakeReply): void;
  close(): Promise<void>;
};

const FORMATS: Readonly<Record<string, Format>> = {
  '/v1/messages': 'messages',
  '/v1/chat/completions': 'chat',
  '/v1/responses': 'responses',
};

export async function startFakeProvider(first: FakeHandler | FakeReply = { text: 'Hello.' }): Promise<FakeProvider> {
  let handler = asHandler(first);
  const requests: Seen[] = [];
  const waiting = new Map<number, (seen: Seen) => void>();
  const server = createServer((incoming, response) => {
    void serve(incoming, response).catch(() => response.destroy());
  });

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const format = FORMATS[new URL(incoming.url ?? '/', 'http://fake').pathname];
    const body = parse(await read(incoming));
    if (format === undefined || !isJsonObject(body)) {
      response.writeHead(404).end();
      return;
    }
    const request = readRequest(requests.length, format, incoming.headers, body);
    const closed = new Promise<'client_closed'>((resolve) => {
      response.on('close', () => resolve('client_closed'));
    });
    const { promise: scripted, resolve: done } = Promise.withResolvers<'as_scripted'>();
    const connection = incoming.socket.remotePort ?? 0;
    const seen: Seen = { ...request, connection, ended: Promise.race([scripted, closed]) };
    requests.push(seen);
    waiting.get(request.index)?.(seen);
    await send(response, request, await handler(request), () => done('as_scripted'));
  }

  const origin = `http://127.0.0.1:${await listenLocally(server)}`;
  return {
    anthropicURL: origin,
    openaiURL: `${origin}/v1`,
    requests,
    seen: async (index) => requests[index] ?? (await new Promise<Seen>((resolve) => void waiting.set(index, resolve))),
    answer: (next) => {
      handler = asHandler(next);
    },
    close: () => closeServer(server),
  };
}

function asHandler(given: FakeHandler | FakeReply): FakeHandler {
  return typeof given === 'function' ? given : () => given;
}

async function send(response: ServerResponse, request: FakeRequest, reply: FakeReply, done: () => void): Promise<void> {
  if (isStatus(reply)) {
    sendStatus(response, request.format, reply);
    done();
    return;
  }
  if (isRecording(reply)) {
    const recording = renderRecording(request.format, reply.recorded);
    if (request.stream) await sendStream(response, recording, {}, done);
    else await sendWhole(response, JSON.stringify(recording.whole), undefined, done);
    return;
  }
  if (reply.fault?.kind === 'no_headers') return;
  const rendered = render(request, reply);
  if (request.stream) await sendStream(response, rendered, reply, done);
  else await sendWhole(response, JSON.stringify(rendered.whole), reply.fault, done);
}

function render(request: FakeRequest, reply: FakeAnswer): Rendered {
  const spoken = speak(reply, request);
  switch (request.format) {
    case 'messages':
      return renderMessages(spoken);
    case 'chat': {
      const options = request.body['stream_options'];
      return renderChat(spoken, {
        includeUsage: isJsonObject(options) && options['include_usage'] === true,
      });
    }
    case 'responses':
      return renderResponses(spoken);
  }
}

function sendStatus(response: ServerResponse, format: Format, reply: FakeStatus): void {
  const error = {
    type: reply.type ?? 'api_error',
    message: reply.message ?? `fake status ${reply.status}`,
    ...(format === 'messages' ? {} : { code: reply.code ?? null, param: null }),
  };
  const body = reply.body ?? (format === 'messages' ? { type: 'error', error } : { error });
  response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers });
  response.end(JSON.stringify(body));
}

async function sendStream(
  response: ServerResponse,
  rendered: Rendered,
  reply: FakeAnswer,
  done: () => void,
): Promise<void> {
  const { fault } = reply;
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  response.flushHeaders();
  const until = fault === undefined ? rendered.events.length : sentBefore(fault, rendered);
  if (reply.paceMs === undefined) response.write(rendered.events.slice(0, until).join(''));
  for (const text of reply.paceMs === undefined ? [] : rendered.events.slice(0, until)) {
    await sleep(reply.paceMs);
    if (response.destroyed) return;
    response.write(text);
  }
  if (reply.lingerMs !== undefined) await sleep(reply.lingerMs);
  if (fault === undefined) response.end(done);
  else await breakOff(response, fault, done);
}

function sentBefore(fault: Fault, rendered: Rendered): number {
  switch (fault.kind) {
    case 'no_headers':
    case 'no_body':
      return 0;
    case 'error_event':
    case 'cut':
    case 'reset':
    case 'stall':
      return fault.after ?? rendered.firstDelta + 1;
  }
}

async function breakOff(response: ServerResponse, fault: Fault, done: () => void): Promise<void> {
  switch (fault.kind) {
    case 'no_headers':
    case 'no_body':
      return;
    case 'error_event': {
      const error = { type: fault.type, code: fault.code ?? null, message: fault.message };
      response.end(event({ type: 'error', error }, 'error'), done);
      return;
    }
    case 'cut':
      response.end(done);
      return;
    case 'reset':
      // The written bytes must have left before the socket is closed, or none would arrive.
      await sleep(20);
      done();
      response.socket?.resetAndDestroy();
      return;
    case 'stall':
      while (fault.pingMs !== undefined && !response.destroyed) {
        await sleep(fault.pingMs);
        response.write('event: ping\ndata: {"type":"ping"}\n\n');
      }
      return;
  }
}

async function sendWhole(
  response: ServerResponse,
  body: string,
  fault: Fault | undefined,
  done: () => void,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.flushHeaders();
  if (fault === undefined) {
    response.end(body, done);
    return;
  }
  if (fault.kind !== 'no_body') response.write(body.slice(0, body.length / 2));
  await breakOff(response, fault, done);
}

async function read(incoming: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Uint8Array);
  return Buffer.concat(chunks).toString('utf8');
}

function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}
