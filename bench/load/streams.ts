/** Clients of event streams. Records when each one received which event. */
import http from 'node:http';
import { monotonic } from '../talk.ts';
import type { Delivery, Listening } from './protocol.ts';

const EVENT = /^event: (\S+)\ndata: (.*)$/m;

let delivered: Delivery[] = [];

/** Resolves when every stream has started. */
export async function listen({ url, paths, events }: Listening): Promise<number> {
  const opened = paths.map((path, index) => open(`${url}${path}`, index, events));
  return (await Promise.all(opened)).length;
}

/** Since the last request. */
export function takeDeliveries(): Delivery[] {
  return delivered.splice(0);
}

function open(address: string, stream: number, events: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = http.get(address, { agent: false }, (response) => {
      if (response.statusCode !== 200) {
        reject(new Error(`${address}: ${response.statusCode}`));
        return;
      }
      resolve();
      response.setEncoding('utf8');
      let rest = '';
      response.on('data', (text: string) => {
        const at = monotonic();
        const frames = (rest + text).split('\n\n');
        rest = frames.pop() ?? '';
        for (const frame of frames) {
          const [, name = '', data = ''] = EVENT.exec(frame) ?? [];
          if (events.includes(name)) delivered.push({ stream, at, text: data });
        }
      });
      response.on('error', () => undefined);
    });
    request.on('error', reject);
  });
}
