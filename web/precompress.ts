// Writes a brotli and a gzip file beside each built asset. The API serves them to browsers that accept them, and compresses
// nothing itself. Browsers accept brotli only over HTTPS and from this computer, gzip everywhere.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Plugin } from 'vite';

/** In bytes. A smaller file fits in one packet in any case. */
const SMALLEST = 1_024;

const ENCODINGS = [
  {
    extension: '.br',
    compress: (bytes: Uint8Array) =>
      promisify(brotliCompress)(bytes, {
        params: {
          [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
          [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
        },
      }),
  },
  {
    extension: '.gz',
    compress: (bytes: Uint8Array) => promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION }),
  },
];

export function precompress(): Plugin {
  return {
    name: 'precompress',
    apply: 'build',
    async writeBundle({ dir = '' }, bundle) {
      const assets = Object.values(bundle).filter(({ fileName }) => /\.(js|css|svg)$/.test(fileName));
      await Promise.all(
        assets.map(async (asset) => {
          const bytes = Buffer.from(asset.type === 'chunk' ? asset.code : asset.source);
          if (bytes.length >= SMALLEST) await writeCompressed(path.join(dir, asset.fileName), bytes);
        }),
      );
    },
  };
}

async function writeCompressed(file: string, bytes: Buffer): Promise<void> {
  await Promise.all(
    ENCODINGS.map(async ({ extension, compress }) => writeFile(file + extension, await compress(bytes))),
  );
}
