/**
 * Reads the body of a response as a stream: decompresses it, keeps only the part that is shown, and aborts beyond a
 * limit, which applies to the compressed and to the decompressed size.
 */
import type { IncomingMessage } from 'node:http';
import { Transform, pipeline, type Duplex, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { ToolFault } from '../../run/tool-fault.ts';

type Body = { bytes: Buffer; total: number; truncated: boolean };

/** Nested content encodings. */
const MOST_ENCODINGS = 2;

export async function readBody(
  response: IncomingMessage,
  limits: { bodyBytes: number; downloadBytes: number },
): Promise<Body> {
  const declared = Number(response.headers['content-length'] ?? 0);
  if (declared > limits.downloadBytes) throw tooLarge(limits.downloadBytes);
  const kept: Buffer[] = [];
  let [keptBytes, total] = [0, 0];
  for await (const chunk of unpacked(response, limits.downloadBytes)) {
    const bytes = Buffer.from(chunk);
    total += bytes.length;
    if (total > limits.downloadBytes) throw tooLarge(limits.downloadBytes);
    if (keptBytes < limits.bodyBytes) kept.push(bytes.subarray(0, limits.bodyBytes - keptBytes));
    keptBytes = Math.min(limits.bodyBytes, keptBytes + bytes.length);
  }
  return { bytes: Buffer.concat(kept), total, truncated: total > keptBytes };
}

function unpacked(response: IncomingMessage, most: number): Readable {
  const encodings = (response.headers['content-encoding'] ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity');
  if (encodings.length > MOST_ENCODINGS) {
    throw new ToolFault('invalid_response', `The body has more than ${MOST_ENCODINGS} nested content encodings.`);
  }
  const streams = [counted(most), ...encodings.reverse().map(unpacker)];
  // Errors of all streams reach the reader of the last one.
  pipeline([response, ...streams], () => undefined);
  return streams.at(-1) ?? response;
}

/** Limits the compressed size, because data that decompresses to nothing must end, too. */
function counted(most: number): Duplex {
  let total = 0;
  return new Transform({
    transform(chunk: Buffer, _, done) {
      total += chunk.length;
      if (total > most) done(tooLarge(most));
      else done(null, chunk);
    },
  });
}

function unpacker(encoding: string): Duplex {
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'deflate':
      return createInflate();
    case 'br':
      return createBrotliDecompress();
    default:
      throw new ToolFault('invalid_response', `The body has an unsupported content encoding: ${encoding}.`);
  }
}

function tooLarge(most: number): ToolFault {
  return new ToolFault('body_too_large', `The body is larger than ${most} bytes.`);
}

const TEXT_TYPE =
  /^(?:text\/|application\/(?:[\w.+-]*\+)?(?:json|xml|javascript|ecmascript|x-www-form-urlencoded|yaml|x-ndjson))/i;

/** Binary bodies are described instead of shown. */
export function bodyText({ bytes, total }: Body, contentType: string): string {
  const [type = ''] = contentType.split(';');
  const charset = /;\s*charset="?([^";\s]+)/i.exec(contentType)?.[1];
  if (charset !== undefined || TEXT_TYPE.test(type)) return decoder(charset ?? 'utf-8').decode(bytes, { stream: true });
  try {
    // An incomplete character at the end is dropped.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    if (!text.includes('\0')) return text;
  } catch {
    // Not UTF-8.
  }
  return `[Binary body, ${total} bytes${type === '' ? '' : ` of ${type.trim()}`}: not shown.]`;
}

function decoder(charset: string): InstanceType<typeof TextDecoder> {
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder('utf-8');
  }
}
