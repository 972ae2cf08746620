/** A body that may be large, put into a file of its own until it was taken in: it is read more than once. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { refuse } from '../../core/errors.ts';
import { RequestRefused } from '../problem.ts';

/** What is read, and looked at, in one turn of the event loop: a few thousand values may lie in it. */
const READ_BYTES = 16 * 1024;

export type Spooled = {
  /** Of all bytes. */
  hash: string;
  read(): AsyncIterable<Buffer>;
  remove(): Promise<void>;
};

/** Refuses a body of more than `most` bytes, and leaves the rest of it unread. `name`: of the file. */
export async function spool(body: Readable, most: number, name: string): Promise<Spooled> {
  const file = path.join(tmpdir(), `nightshift-import-${name}`);
  const remove = (): Promise<void> => rm(file, { force: true });
  const handle = await open(file, 'wx', 0o600);
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    for await (const chunk of body.iterator({ destroyOnReturn: false })) {
      if (!Buffer.isBuffer(chunk)) throw new Error('A body came as something else than bytes.');
      bytes += chunk.length;
      if (bytes > most) throw tooLarge(most);
      hash.update(chunk);
      await handle.writeFile(chunk);
    }
  } catch (error) {
    await remove();
    throw error;
  } finally {
    await handle.close();
  }
  return {
    hash: hash.digest('base64url'),
    read: () => createReadStream(file, { highWaterMark: READ_BYTES }),
    remove,
  };
}

function tooLarge(most: number): RequestRefused {
  const megabytes = Math.floor(most / 1024 / 1024);
  return new RequestRefused(refuse('payload_too_large', `The body is larger than ${megabytes} MB.`));
}
