/** Stream clients in a separate process, many for each context. Each one sums up what it receives. */
import http from 'node:http';
import { answerQuestions } from '../talk.ts';
import { EventReader } from './event-reader.ts';
import type { SubscribersProtocol, Crowd, Stored, Comparison } from './protocol.ts';
import { sumOf } from './sum.ts';

type Client = { contextId: string; reader: EventReader; dropped: number };

const clients: Client[] = [];

/** Resolves when every stream has started. */
async function listen({ url, contexts, each }: Crowd): Promise<number> {
  const opened = contexts.flatMap((contextId) =>
    Array.from({ length: each }, () => {
      const client = { contextId, reader: new EventReader(clients.length), dropped: 0 };
      clients.push(client);
      return follow(url, client);
    }),
  );
  return (await Promise.all(opened)).length;
}

/** Resolves when the response has started. A dropped client reconnects. */
function follow(url: string, client: Client): Promise<void> {
  const { contextId, reader } = client;
  return new Promise((resolve, reject) => {
    const headers = { 'last-event-id': String(reader.lastId) };
    const path = `${url}/api/contexts/${contextId}/events`;
    const request = http.get(path, { agent: false, headers }, (response) => {
      if (response.statusCode !== 200) {
        reject(new Error(`${path}: ${response.statusCode}`));
        return;
      }
      resolve();
      reader.begin();
      response.setEncoding('latin1');
      response.on('data', (text: string) => reader.read(text));
      response.on('error', () => undefined);
      response.on('close', () => {
        client.dropped += 1;
        follow(url, client).catch(() => undefined);
      });
    });
    request.on('error', reject);
  });
}

function approval(stored: Stored): Comparison {
  const texts = new Map(Object.entries(stored).map(([id, { text }]) => [id, sumOf(text)]));
  const isWhole = ({ contextId, reader }: Client): boolean => {
    const text = texts.get(contextId);
    return text !== undefined && reader.deltaFaults === 0 && reader.completed?.equals(text) === true;
  };
  const isGapless = ({ contextId, reader }: Client): boolean =>
    reader.entryFaults === 0 && reader.lastId === stored[contextId]?.head;
  return {
    whole: clients.filter(isWhole).length,
    gapless: clients.filter(isGapless).length,
    dropped: clients.reduce((sum, { dropped }) => sum + dropped, 0),
  };
}

answerQuestions<SubscribersProtocol>({
  listen,
  pieces: () => clients.reduce((sum, { reader }) => sum + reader.pieces, 0),
  approval,
  delays: () => clients.flatMap(({ reader }) => reader.delays),
});
