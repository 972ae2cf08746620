/** What stands before every prompt in one text: the system prompt, and what is pinned behind it. */
import type { ModelRequest } from '../../core/model.ts';

export function standing({ system, pinned }: Pick<ModelRequest, 'system' | 'pinned'>): string {
  return system === '' || pinned === '' ? system + pinned : `${system}\n\n${pinned}`;
}
