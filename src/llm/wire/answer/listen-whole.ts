/** Reads an answer that is not streamed. It is complete when its JSON is. */
import { isJsonObject } from '../../../core/json.ts';
import type { ModelListener } from '../../../core/model/model.ts';
import { parseJson } from './json.ts';
import type { Body, Received } from '../wire.ts';

export async function listenToWhole({ bytes, watch, idleMs }: Body, listener: ModelListener): Promise<Received> {
  const decoder = new TextDecoder();
  let text = '';
  listener.started();
  let read = await bytes.read();
  while (read.kind === 'chunk') {
    text += decoder.decode(read.bytes, { stream: true });
    watch.received(idleMs);
    read = await bytes.read();
  }
  if (read.kind === 'threw') {
    watch.end();
    return read;
  }
  watch.over();
  const whole = parseJson(text + decoder.decode());
  if (isJsonObject(whole)) return { kind: 'answered', whole };
  return { kind: 'broken', class: 'stream_interrupted', message: 'the answer is not JSON' };
}
