/**
 * Compresses JSON responses for clients that accept it. Small responses, streams, responses with an ETag, and responses
 * to writes are sent as they are (docs/decisions/0029-compressed-responses.md).
 */
import { brotliCompress, brotliCompressSync, constants, gzip, gzipSync } from 'node:zlib';
import { negotiate } from '@fastify/accept-negotiator';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../server/ports.ts';

/** In characters. A smaller response fits in the first packets of a connection. */
const SMALLEST = 8_192;
/** In characters. Up to here another thread costs more than the compression, which takes some tenths of a millisecond. */
const LARGEST_INLINE = 65_536;

type Encoding = {
  inline: (text: string) => Buffer;
  inThread: (text: string, done: (error: Error | null, bytes: Buffer) => void) => void;
};

const BROTLI = {
  params: {
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_QUALITY]: 3,
  },
};
const GZIP = { level: constants.Z_BEST_SPEED };

const ENCODINGS: Readonly<Record<'br' | 'gzip', Encoding>> = {
  br: {
    inline: (text) => brotliCompressSync(text, BROTLI),
    inThread: (text, done) => brotliCompress(text, BROTLI, done),
  },
  gzip: { inline: (text) => gzipSync(text, GZIP), inThread: (text, done) => gzip(text, GZIP, done) },
};

export function compressResponses(app: App): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    if (typeof payload !== 'string' || payload.length < SMALLEST || !mayCompress(request, reply)) {
      return done(null, payload);
    }
    const vary = reply.getHeader('vary');
    reply.header('vary', vary === undefined ? 'accept-encoding' : `${String(vary)}, accept-encoding`);
    const { 'accept-encoding': accepted = '' } = request.headers;
    const name = negotiate(accepted.toLowerCase(), ['br', 'gzip']);
    if (name === null) return done(null, payload);
    reply.header('content-encoding', name);
    const { inline, inThread } = ENCODINGS[name];
    if (payload.length <= LARGEST_INLINE) return done(null, inline(payload));
    return inThread(payload, done);
  });
}

function mayCompress({ method }: FastifyRequest, reply: FastifyReply): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  if (reply.hasHeader('etag') || reply.hasHeader('content-encoding')) return false;
  return /\bjson\b/.test(String(reply.getHeader('content-type')));
}
