/** The hash of a random secret, as it is stored: SHA-256, base64url. */
import { createHash } from 'node:crypto';

export function secretHash(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}
