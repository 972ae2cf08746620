/**
 * Stream clients that connect, disconnect and reconnect, to the same context with their cursor or to another context.
 */
import http from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { did, trouble } from './ledger.ts';

/** The duration of a connection, in milliseconds. */
const SHORTEST_MS = 1_000;
const LONGEST_MS = 45_000;
const BREATH_MS = 200;

const ID = /^id: (\d+)$/gm;

let open = 0;

export function openStreams(): number {
  return open;
}

/** Runs until `signal`. `pick`: the id of an existing context; null: none. */
export async function follow(url: string, pick: () => string | null, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const contextId = pick();
    if (contextId !== null) await followOne(`${url}/api/contexts/${contextId}/events`, signal);
    await pause(BREATH_MS);
  }
}

/** Starts at the beginning or at the current end, and may reconnect after the last received id. */
async function followOne(address: string, signal: AbortSignal): Promise<void> {
  let after: string | null = Math.random() < 0.5 ? '0' : '';
  while (after !== null && !signal.aborted) {
    const lastId = await stay(address, after, signal);
    after = Math.random() < 0.5 ? lastId : null;
  }
}

/** The last received id; null: the stream ended, or nothing was received. */
function stay(address: string, after: string, signal: AbortSignal): Promise<string | null> {
  return new Promise((resolve) => {
    const headers = after === '' ? {} : { 'last-event-id': after };
    let last: string | null = null;
    let ended = false;
    const request = http.get(address, { agent: false, headers }, (response) => {
      did(`streams answered with ${response.statusCode}`);
      if (![200, 404, 503].includes(response.statusCode ?? 0)) {
        trouble(`${address}: ${response.statusCode}`);
      }
      open += 1;
      response.on('close', () => (open -= 1));
      response.setEncoding('utf8');
      response.on('data', (text: string) => {
        for (const [, id] of text.matchAll(ID)) last = id ?? null;
      });
      response.on('end', () => (ended = true));
      response.on('error', () => undefined);
    });
    request.on('error', (error) => {
      if (!leaving.aborted) trouble(`${address}: ${String(error)}`);
    });
    const enough = AbortSignal.timeout(SHORTEST_MS + Math.floor(Math.random() * (LONGEST_MS - SHORTEST_MS)));
    const leaving = AbortSignal.any([enough, signal]);
    const leave = (): void => void request.destroy();
    leaving.addEventListener('abort', leave);
    request.on('close', () => {
      leaving.removeEventListener('abort', leave);
      resolve(ended ? null : last);
    });
  });
}
