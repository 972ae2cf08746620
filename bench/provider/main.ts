/** The fake provider: a process that answers model calls from a script and records the times of requests. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { promptText } from '../../test/llm/fake/prompt-cache.ts';
import { answerQuestions, monotonic } from '../talk.ts';
import * as chat from './chat.ts';
import * as messages from './messages.ts';
import type { Observation, ProviderProtocol } from './protocol.ts';
import { SCRIPT, STAMP, refusalOf, replyTo, type ParsedRequest, type Reply } from './script.ts';

let script = SCRIPT;
let observed: Observation[] = [];
let prompts: string[] = [];
const counts = { requests: 0, open: 0, finals: 0 };
let watchers: (() => void)[] = [];

function changed(): void {
  for (const look of watchers) look();
}

/** Resolves when `isSo` is true. */
function until(isSo: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (!isSo()) return;
      watchers = watchers.filter((other) => other !== look);
      resolve();
    };
    watchers.push(look);
    look();
  });
}

const server = createServer((request, response) => {
  const at = monotonic();
  void answer(request, response, at).catch(() => response.destroy());
});
server.keepAliveTimeout = 600_000;
server.requestTimeout = 0;

async function answer(request: IncomingMessage, response: ServerResponse, at: number): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const body = JSON.parse(Buffer.concat(parts).toString('utf8'));
  const wire = request.url?.endsWith('/messages') === true ? messages : chat;
  const parsedRequest = wire.parseRequest(body);
  if (script.keepsPrompts) prompts.push(promptText({ format: wire.FORMAT, body }));
  const reply = replyTo(parsedRequest, script);
  observe('request', parsedRequest, at);
  counts.requests += 1;
  counts.open += 1;
  let ended = false;
  response.on('close', () => {
    counts.open -= 1;
    if (!ended) observe('closed', parsedRequest, monotonic());
    changed();
  });
  changed();
  const refused = refusalOf(counts.requests, script);
  if (script.latencyMs > 0) await pause(script.latencyMs);
  if (refused !== null) {
    ended = true;
    refuse(response, refused);
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  await speak(response, wire.eventsOf(reply, parsedRequest.prompt));
  ended = true;
  response.end(() => countEnd(reply));
}

function refuse(response: ServerResponse, status: number): void {
  const error = { type: 'error', message: 'not now' };
  const wait = status === 429 ? { 'retry-after': '1' } : {};
  response.writeHead(status, { 'content-type': 'application/json', ...wait });
  response.end(JSON.stringify({ type: 'error', error }));
}

function countEnd(reply: Reply): void {
  if (reply.kind === 'text') counts.finals += 1;
  changed();
}

/** Sends each event at its scheduled time, even if the previous one was late. */
async function speak(response: ServerResponse, events: readonly string[]): Promise<void> {
  const { tokenMs, stamped } = script;
  const began = monotonic();
  for (const [index, event] of events.entries()) {
    const early = tokenMs === 0 ? 0 : began + index * tokenMs - monotonic();
    if (early > 0) await pause(early);
    if (response.destroyed) return;
    response.write(stamped ? event.replace(STAMP, `@${Math.round(monotonic())}`) : event);
  }
}

function observe(kind: Observation['kind'], { mark }: ParsedRequest, at: number): void {
  observed.push({ kind, mark, at });
}

answerQuestions<ProviderProtocol>({
  async listen() {
    server.listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    return (server.address() as AddressInfo).port;
  },
  play(next) {
    script = { ...SCRIPT, ...next };
    counts.finals = 0;
    counts.requests = 0;
    observed = [];
    prompts = [];
  },
  observed: () => observed.splice(0),
  prompts: () => prompts.splice(0),
  untilFinals: (count) => until(() => counts.finals >= count),
  untilOpen: (count) => until(() => counts.open >= count),
  counts: () => counts,
});
