/** One HTTP request and its response, of any status, over keep-alive connections. */
import http from 'node:http';
import { monotonic } from '../talk.ts';
import type { Answer, Request } from './protocol.ts';

const agent = new http.Agent({ keepAlive: true });

/** Rejects if the response is incomplete. */
export function exchange(url: string, { method, path, body, key, apiKey }: Request): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const text = body === null ? '' : JSON.stringify(body);
    const headers = {
      'content-length': Buffer.byteLength(text),
      ...(body === null ? {} : { 'content-type': 'application/json' }),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
      ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
    };
    const sentAt = monotonic();
    const request = http.request(`${url}${path}`, { method, agent, headers }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('error', reject);
      response.on('end', () => {
        const ms = monotonic() - sentAt;
        const answer = Buffer.concat(parts).toString('utf8');
        resolve({
          status: response.statusCode ?? 0,
          body: answer === '' ? null : JSON.parse(answer),
          sentAt,
          ms,
        });
      });
    });
    request.on('error', reject);
    request.end(text);
  });
}
