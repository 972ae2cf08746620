// A proxy in front of an API: it passes answers on at once, except for the answers to cancels, which it delays.
import { createServer, request } from 'node:http';
import { closeServer, listenLocally } from '../services/local-server.ts';

/** Longer than a command that waits for nothing takes to end. */
const LATE_MS = 1_500;

export async function openLateCancels(apiUrl: string): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((asked, answer) => {
    const { method = 'GET', url = '/', headers } = asked;
    const onward = request(new URL(url, apiUrl), { method, headers, agent: false }, (response) => {
      const passOn = (): void => {
        answer.writeHead(response.statusCode ?? 502, response.headers).flushHeaders();
        response.pipe(answer);
      };
      if (url.endsWith('/cancel')) setTimeout(passOn, LATE_MS);
      else passOn();
    });
    onward.on('error', () => answer.destroy());
    answer.on('close', () => onward.destroy());
    asked.pipe(onward);
  });
  const port = await listenLocally(server);
  return { url: `http://127.0.0.1:${port}`, close: () => closeServer(server) };
}
