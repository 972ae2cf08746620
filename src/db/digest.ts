/** Hashes of texts, to compare them by: 96 bits of SHA-256 in 16 characters. */
import { createHash } from 'node:crypto';
import type { Digest } from '../core/fingerprint.ts';

const CHARACTERS = 16;

/** Each text by its own, whatever is in it: `ab, c` is not `a, bc`. */
export const digest: Digest = (texts) => {
  // One text: thousands of short ones would cost more than the hash does.
  const whole = texts.map((text) => `${text.length}:${text}`).join('');
  return createHash('sha256').update(whole).digest('base64url').slice(0, CHARACTERS);
};
