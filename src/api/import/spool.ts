/** Stores a large body in a temporary file until the import ends: the body is read more than once. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { refused } from '../response/problem.ts';

/** Bytes read in one turn of the event loop: they may have a few thousand values. */
const READ_BYTES = 16 * 1024;

export type Spooled = {
  /** SHA-256 of all bytes. */
  hash: string;
  read(): AsyncIterable<Buffer>;
  remove(): Promise<void>;
};

/** Refuses a body of more than `most` bytes, and leaves the rest unread. `name`: suffix of the file name. */
export async function spool(body: Readable, most: number, name: string): Promise<Spooled> {
  const file = path.join(tmpdir(), `nightshift-import-${name}`);
  const remove = (): Promise<void> => rm(file, { force: true });
  const handle = await open(file, 'wx', 0o600);
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    for await (const chunk of body.iterator({ destroyOnReturn: false })) {
      if (!Buffer.isBuffer(chunk)) throw new Error('The body stream has chunks that are not buffers.');
      bytes += chunk.length;
      if (bytes > most)
        throw refused(
          'payload_too_large',
          `The body is larger than ${Math.floor(most / 1024 / 1024)} MB. The operator can raise the limit with NIGHTSHIFT_IMPORT_MB.`,
        );
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
