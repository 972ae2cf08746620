/** Keeps the head of a stream. The rest is read and dropped, so that the writer never blocks. */
import type { Readable } from 'node:stream';

type Head = { text(): string };

export function headOfStream(stream: Readable | null, most: number): Head {
  const kept: Buffer[] = [];
  let [keptBytes, total] = [0, 0];
  stream?.on('data', (chunk: Buffer) => {
    total += chunk.length;
    if (keptBytes < most) kept.push(Buffer.from(chunk.subarray(0, most - keptBytes)));
    keptBytes = Math.min(most, keptBytes + chunk.length);
  });
  stream?.on('error', () => undefined);
  return {
    text: () => {
      const text = new TextDecoder().decode(Buffer.concat(kept), { stream: total > keptBytes });
      return total > keptBytes ? `${text}\n[Truncated: ${total - keptBytes} of ${total} bytes were omitted.]` : text;
    },
  };
}
