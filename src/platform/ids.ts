/**
 * Ids in production: UUIDv7, sorted by creation time. The id of an answer is derived from its job and sorts with it.
 */
import { hash } from 'node:crypto';
import { v7 } from 'uuid';
import { parseId, type JobId, type MessageId, type RunIds } from '../core/ids.ts';

export const ids: RunIds = { next: <T extends string>() => uuid() as T, answer: answerId };

/** Random bytes are drawn for many ids at once, because drawing is the main cost of an id. */
const DRAWN = 256;
const BYTES = 16;
const drawn = new Uint8Array(DRAWN * BYTES);
let used = drawn.length;

let msecs = 0;
let seq = 0;

/** Ids of the same millisecond count up from a random number, so that all ids sort by creation time. */
function uuid(): string {
  const random = draw();
  const now = Date.now();
  if (now > msecs) {
    msecs = now;
    seq = new DataView(random.buffer, random.byteOffset + 6).getUint32(0) & 0x7fffffff;
  } else {
    seq = (seq + 1) | 0;
    if (seq === 0) msecs += 1;
  }
  return v7({ random, msecs, seq });
}

function draw(): Uint8Array {
  if (used === drawn.length) {
    crypto.getRandomValues(drawn);
    used = 0;
  }
  used += BYTES;
  return drawn.subarray(used - BYTES, used);
}

function answerId(jobId: JobId, step: number): MessageId {
  return derivedId<MessageId>(jobId, String(step));
}

/** Another id for the same job and name: the timestamp of the job's id, followed by a hash of both. */
export function derivedId<T extends ReturnType<typeof ids.next>>(jobId: JobId, name: string): T {
  const hashed = hash('sha256', `${jobId}/${name}`, 'buffer');
  hashed[6] = 0x70 | ((hashed[6] ?? 0) & 0x0f);
  hashed[8] = 0x80 | ((hashed[8] ?? 0) & 0x3f);
  const hex = jobId.replaceAll('-', '').slice(0, 12) + hashed.toString('hex').slice(12, 32);
  const id = parseId<T>(hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'));
  if (id === null) throw new Error(`The job id ${jobId} is not a UUID.`);
  return id;
}
