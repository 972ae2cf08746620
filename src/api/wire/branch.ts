/** Converts branches to their API form. */
import { toPublicUsage } from '../../core/money/usage.ts';
import type { BranchView, Sibling as SiblingView } from '../../db/read/contexts/branch-views.ts';
import { toIso } from '../request/instant.ts';
import type { Branch, SiblingList } from '../schemas/contexts/branch.ts';

export function toBranch(view: BranchView): Branch {
  return {
    name: view.name,
    active: view.isActive,
    parent: view.parent,
    fork_message_id: view.forkMessageId,
    fork_seq: view.forkSeq,
    length: view.length,
    message_count: view.messageCount,
    request_count: view.requestCount,
    usage: toPublicUsage(view.usage),
    created_at: toIso(view.createdAt),
  };
}

export function toSiblings(siblings: readonly SiblingView[]): SiblingList {
  return {
    data: siblings.map(({ branch, messageId, turn, createdAt, isActive }) => ({
      branch,
      message_id: messageId,
      turn,
      created_at: toIso(createdAt),
      active: isActive,
    })),
  };
}
