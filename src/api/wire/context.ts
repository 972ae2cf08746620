/** Converts contexts to their API form. */
import { toPublicUsage } from '../../core/money/usage.ts';
import type { ContextView } from '../../db/read/contexts/context-views.ts';
import { toIso, toIsoOrNull } from '../request/instant.ts';
import type { Context } from '../schemas/contexts/context.ts';

export function toContext(view: ContextView): Context {
  return {
    id: view.id,
    worker_id: view.workerId,
    worker_name: view.workerName,
    user: view.user,
    role: view.role,
    last_message: toLastMessage(view.lastMessage),
    parent_id: view.parentId,
    title: view.title,
    first_input: view.firstInput,
    parent_worker_id: view.parentWorkerId,
    has_children: view.hasChildren,
    config: view.config,
    state: view.state,
    active_branch: view.activeBranch,
    branches: view.branches,
    message_count: view.messageCount,
    turn_count: view.turnCount,
    request_count: view.requestCount,
    usage: toPublicUsage(view.usage),
    created_at: toIso(view.createdAt),
    updated_at: toIso(view.updatedAt),
    expires_at: toIsoOrNull(view.expiresAt),
    archived_at: toIsoOrNull(view.archivedAt),
  };
}

function toLastMessage(last: ContextView['lastMessage']): Context['last_message'] {
  if (last === null) return null;
  return { id: last.id, role: last.role, text: last.text, created_at: toIso(last.createdAt) };
}
