/** Reads an answer that is not streamed. It is complete when its JSON is. */
import { isJsonObject } from '../../../core/json.ts';
import type { ModelListener } from '../../../core/model/model.ts';
import type { Bytes } from '../http/bytes.ts';
import { parseJson } from './json.ts';
import type { Watch } from '../http/watch.ts';
import type { Received } from '../wire.ts';

export async function listenToWhole(
  bytes: Bytes,
  listener: ModelListener,
  watch: Watch,
  idleMs: number,
): Promise<Received> {
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
  return { kind: 'broken', class: 'stream_interrupted', words: 'the answer is not JSON' };
}
