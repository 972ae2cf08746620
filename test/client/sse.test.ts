/** The stream of the API from bytes: whole events only, wherever the network cuts it. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readFrames, type Frame } from '../../src/client/sse.ts';

const NONE: Frame = { id: null, event: null, data: null, retry: null };

function bodyOf(chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}

async function read(chunks: readonly Uint8Array[], signal = new AbortController().signal): Promise<Frame[]> {
  const frames: Frame[] = [];
  for await (const some of readFrames(bodyOf(chunks), signal)) frames.push(...some);
  return frames;
}

const STREAM =
  '\uFEFF: hello\r\nretry: 2000\rid: 0\n\nevent: A\r\nid: 1\ndata: {"x":"🦉"}\r\n\r\nevent:B\ndata: one\ndata:two\n\nid: 3\n\n: pause\n\nid: 4\nevent: C\ndata: cut off\n';
const EXPECTED: Frame[] = [
  { ...NONE, retry: 2000 },
  { ...NONE, id: '0' },
  { ...NONE, id: '1', event: 'A', data: '{"x":"🦉"}' },
  { ...NONE, event: 'B', data: 'one\ntwo' },
  { ...NONE, id: '3' },
];

test('frames are the same wherever the bytes are cut, and an event that is cut off is dropped', async () => {
  const bytes = new TextEncoder().encode(STREAM);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: bytes.length })), async (cuts) => {
      const places = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
      const chunks = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
      expect(await read(chunks)).toEqual(EXPECTED);
    }),
  );
});

test('an event beyond the limit ends the iteration with an error', async () => {
  const part = new TextEncoder().encode('x'.repeat(1024 * 1024));
  const start = new TextEncoder().encode('data: ');
  await expect(read([start, ...Array.from({ length: 65 }, () => part)])).rejects.toThrow(/max buffer size/);
});

test('the signal ends the iteration', async () => {
  const controller = new AbortController();
  const bytes = new TextEncoder().encode('data: one\n\n');
  const seen: Frame[][] = [];
  const endless = new ReadableStream<Uint8Array>({ pull: (stream) => stream.enqueue(bytes) });
  for await (const frames of readFrames(endless, controller.signal)) {
    seen.push(frames);
    if (seen.length === 2) controller.abort();
  }
  expect(seen.length).toBeLessThan(5);
});
