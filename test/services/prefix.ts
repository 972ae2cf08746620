// Test files share one Redis: each keeps to keys and channels below a prefix of its own. The braces make it a hash
// tag, so that a cluster keeps the keys of one queue together.
import { randomBytes } from 'node:crypto';

export function testPrefix(): string {
  return `{test-${randomBytes(6).toString('hex')}}`;
}
