/** The load: a process that sends what it is told, over connections that stay open. */
import http from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { answerQuestions, monotonic } from '../talk.ts';
import { heard, listen } from './streams.ts';
import type { Answer, LoadProtocol, Request, Volley } from './protocol.ts';

const agent = new http.Agent({ keepAlive: true });

function send(url: string, { method, path, body }: Request): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const text = body === null ? '' : JSON.stringify(body);
    const headers = {
      'content-length': Buffer.byteLength(text),
      ...(body === null ? {} : { 'content-type': 'application/json' }),
    };
    const sentAt = monotonic();
    const request = http.request(`${url}${path}`, { method, agent, headers }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('error', reject);
      response.on('end', () => {
        const ms = monotonic() - sentAt;
        const answer = Buffer.concat(parts).toString('utf8');
        const status = response.statusCode ?? 0;
        if (status >= 400) reject(new Error(`${method} ${path}: ${status} ${answer}`));
        else resolve({ status, body: JSON.parse(answer), sentAt, ms });
      });
    });
    request.on('error', reject);
    request.end(text);
  });
}

async function sendAll({ url, requests, atOnce, gapMs }: Volley): Promise<Answer[]> {
  const answers: Answer[] = [];
  let next = 0;
  const one = async (): Promise<void> => {
    for (let index = next++; index < requests.length; index = next++) {
      const request = requests[index];
      if (request !== undefined) answers[index] = await send(url, request);
      if (gapMs > 0) await pause(gapMs);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  return answers;
}

answerQuestions<LoadProtocol>({ send: sendAll, listen, heard });
