/** The fixed start of every prompt as one text: the system prompt followed by the pinned texts. */
import type { ModelRequest } from '../../../core/model/model.ts';

export function systemText({ system, pinned }: Pick<ModelRequest, 'system' | 'pinned'>): string {
  return system === '' || pinned === '' ? system + pinned : `${system}\n\n${pinned}`;
}
