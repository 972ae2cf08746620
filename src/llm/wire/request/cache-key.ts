/** The key of a conversation's prompt cache at OpenAI: at most 64 characters. */
import { createHash } from 'node:crypto';

export function cacheKey(key: string): string {
  return key.length <= 64 ? key : createHash('sha256').update(key).digest('hex');
}
