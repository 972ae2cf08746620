/** Clients of event streams: as many connections as one asks for, and when each heard which event. */
import http from 'node:http';
import { monotonic } from '../talk.ts';
import type { Delivery, Listening } from './protocol.ts';

const EVENT = /^event: (\S+)$/gm;

let delivered: Delivery[] = [];

/** Resolves once every stream has begun. */
export async function listen({ url, paths, event }: Listening): Promise<number> {
  const opened = paths.map((path, index) => open(`${url}${path}`, index, event));
  return (await Promise.all(opened)).length;
}

/** Since one last asked. */
export function heard(): Delivery[] {
  return delivered.splice(0);
}

function open(address: string, stream: number, event: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = http.get(address, { agent: false }, (response) => {
      if (response.statusCode !== 200) {
        reject(new Error(`${address}: ${response.statusCode}`));
        return;
      }
      resolve();
      response.setEncoding('utf8');
      response.on('data', (text: string) => {
        const at = monotonic();
        // Each event is written in one piece.
        for (const [, name] of text.matchAll(EVENT)) if (name === event) delivered.push({ stream, at });
      });
      response.on('error', () => undefined);
    });
    request.on('error', reject);
  });
}
