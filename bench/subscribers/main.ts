/** Stream clients in a separate process, many for each context. Each one sums up what it receives. */
import http from 'node:http';
import { answerQuestions } from '../talk.ts';
import { Ear } from './ear.ts';
import type { SubscribersProtocol, Crowd, Stored, Comparison } from './protocol.ts';
import { sumOf } from './sum.ts';

type Client = { contextId: string; ear: Ear; dropped: number };

const clients: Client[] = [];

/** Resolves when every stream has started. */
async function listen({ url, contexts, each }: Crowd): Promise<number> {
  const opened = contexts.flatMap((contextId) =>
    Array.from({ length: each }, () => {
      const client = { contextId, ear: new Ear(clients.length), dropped: 0 };
      clients.push(client);
      return follow(url, client);
    }),
  );
  return (await Promise.all(opened)).length;
}

/** Resolves when the response has started. A dropped client reconnects. */
function follow(url: string, client: Client): Promise<void> {
  const { contextId, ear } = client;
  return new Promise((resolve, reject) => {
    const headers = { 'last-event-id': String(ear.lastId) };
    const path = `${url}/api/contexts/${contextId}/events`;
    const request = http.get(path, { agent: false, headers }, (response) => {
      if (response.statusCode !== 200) {
        reject(new Error(`${path}: ${response.statusCode}`));
        return;
      }
      resolve();
      ear.begin();
      response.setEncoding('latin1');
      response.on('data', (text: string) => ear.hear(text));
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
  const isWhole = ({ contextId, ear }: Client): boolean => {
    const text = texts.get(contextId);
    return text !== undefined && ear.deltaFaults === 0 && ear.completed?.equals(text) === true;
  };
  const isGapless = ({ contextId, ear }: Client): boolean =>
    ear.entryFaults === 0 && ear.lastId === stored[contextId]?.head;
  return {
    whole: clients.filter(isWhole).length,
    gapless: clients.filter(isGapless).length,
    dropped: clients.reduce((sum, { dropped }) => sum + dropped, 0),
  };
}

answerQuestions<SubscribersProtocol>({
  listen,
  pieces: () => clients.reduce((sum, { ear }) => sum + ear.pieces, 0),
  approval,
  delays: () => clients.flatMap(({ ear }) => ear.delays),
});
