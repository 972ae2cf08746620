/** Which contexts of its tenant a caller sees: all, those of one end user, or those that its token names. */
import type { ContextId } from '../ids.ts';
import type { User } from './user.ts';

export type Reach =
  | { kind: 'tenant' }
  | { kind: 'user'; user: User }
  | { kind: 'contexts'; contextIds: readonly ContextId[] };

export const WHOLE_TENANT: Reach = { kind: 'tenant' };
