/**
 * Decodes bodies that are compressed although that was not requested. Applies backpressure from the reader to the
 * network.
 */
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import type { Transform } from 'node:stream';
import type { Flow, Sink } from './live-response.ts';

const MAKERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

type Decoder = Sink & Flow & { into(sink: Sink): void };

/** Null: nothing to decode, or an unknown encoding. */
export function decoderFor(encoding: string | null, source: Flow & { abort(error: Error): void }): Decoder | null {
  const name = encoding?.trim().toLowerCase() ?? '';
  const stream = Object.hasOwn(MAKERS, name) ? MAKERS[name]?.() : undefined;
  if (stream === undefined) return null;
  stream.on('drain', () => source.resume());
  return {
    into(sink) {
      stream.on('data', (bytes: Uint8Array) => sink.take(bytes));
      stream.on('end', () => sink.takeEnd());
      stream.on('error', (error) => {
        sink.takeError(error);
        source.abort(error);
      });
    },
    take(bytes) {
      if (!stream.write(bytes)) source.pause();
    },
    takeEnd: () => void stream.end(),
    takeError: (error) => void stream.destroy(error instanceof Error ? error : new Error(String(error))),
    pause: () => void stream.pause(),
    resume: () => void stream.resume(),
  };
}
