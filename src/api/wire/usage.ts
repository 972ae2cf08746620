/** Tokens as they leave. No price is known yet. */
import type { Usage } from '../../core/usage.ts';

export function toUsage(usage: Usage): Usage & { cost: null } {
  return { ...usage, cost: null };
}
