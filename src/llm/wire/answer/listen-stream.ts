/**
 * Reads a streamed answer until the provider ends it. A stream that only stops is not complete; a stream that breaks
 * after the answer was complete is, even if its last event is missing.
 */
import { isJsonObject } from '../../../core/json.ts';
import type { ModelListener } from '../../../core/model/model.ts';
import { factsOfEvent } from './error-facts.ts';
import { classify, failureText } from './failure.ts';
import { parseJson } from './json.ts';
import { createSseReader, type SseEvent } from '../http/sse.ts';
import type { Assembly, Body, Received } from '../wire.ts';

/** How long to wait for the last event after the answer is complete. */
const LAST_WORD_MS = 2_000;
/** How long a finished response may take to end, so that its connection can be reused. */
const DRAIN_MS = 1_000;

export async function listenToStream(body: Body, assembly: Assembly, listener: ModelListener): Promise<Received> {
  const broken = await takeAll(body, assembly, listener);
  if (broken === null) void drain(body);
  else body.watch.end();
  return broken === null || assembly.phase() !== 'open' ? { kind: 'answered', whole: assembly.whole() } : broken;
}

/** Null once the answer is complete; otherwise how it broke off. */
async function takeAll(
  { bytes, watch, idleMs }: Body,
  assembly: Assembly,
  listener: ModelListener,
): Promise<Exclude<Received, { kind: 'answered' }> | null> {
  const events = createSseReader();
  for (let first = true; ; first = false) {
    const read = await bytes.read();
    if (read.kind === 'threw') return read;
    if (first && read.kind === 'chunk') listener.started();
    for (const event of read.kind === 'chunk' ? events.push(read.bytes) : events.end()) {
      const broken = takeEvent(event, assembly, listener);
      if (broken !== null) return broken;
      if (assembly.phase() === 'closed') return null;
    }
    if (events.isExceeded()) return cut('an event of the stream is too large');
    if (read.kind === 'end') return cut('the stream ended before the answer was complete');
    watch.received(assembly.phase() === 'open' ? idleMs : Math.min(idleMs, LAST_WORD_MS));
  }
}

type Broken = Extract<Received, { kind: 'broken' }>;

function takeEvent(event: SseEvent, assembly: Assembly, listener: ModelListener): Broken | null {
  if (event.data === '[DONE]') {
    assembly.takeEnd();
    return null;
  }
  const data = parseJson(event.data);
  if (!isJsonObject(data)) return cut('an event of the stream is not JSON');
  const facts = factsOfEvent(event.name, data);
  if (facts !== null) return { kind: 'broken', class: classify(facts, true), message: failureText(facts) };
  for (const { kind, delta } of assembly.take(data)) {
    if (kind === 'text') listener.text(delta);
    else listener.thinking(delta);
  }
  return null;
}

function cut(message: string): Broken {
  return { kind: 'broken', class: 'stream_interrupted', message };
}

/** A response read to its end returns its connection to the pool; otherwise the connection is closed. */
async function drain({ bytes, watch }: Body): Promise<void> {
  watch.answered();
  watch.received(DRAIN_MS);
  let read = await bytes.read();
  while (read.kind === 'chunk') read = await bytes.read();
  if (read.kind === 'end') watch.over();
  else watch.end();
}
