/** Chat Completions without an SDK: HTTP by undici, and event streams parsed here. No retries, no timeouts. */
import { Agent, request } from 'undici';
import type { AskChat, Chunk } from './run-chat.ts';

const DATA = 'data: ';
const END = '[DONE]';

export function askRaw(baseUrl: string, key: string): AskChat {
  const dispatcher = new Agent();
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
  return async (body) => {
    const text = JSON.stringify(body);
    const response = await request(`${baseUrl}/chat/completions`, { method: 'POST', headers, body: text, dispatcher });
    if (response.statusCode === 200) return chunksOf(response.body.setEncoding('utf8'));
    throw new Error(`${response.statusCode}: ${await response.body.text()}`);
  };
}

async function* chunksOf(body: AsyncIterable<string>): AsyncGenerator<Chunk> {
  let rest = '';
  for await (const text of body) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (!line.startsWith(DATA)) continue;
      const data = line.slice(DATA.length);
      if (data !== END) yield JSON.parse(data);
    }
  }
}
