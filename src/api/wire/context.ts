/** A context as it leaves. */
import type { ContextView } from '../../db/context-views.ts';
import { toIso } from '../instant.ts';
import type { Context } from '../schemas/context.ts';
import { toUsage } from './usage.ts';

export function toContext(view: ContextView): Context {
  return {
    id: view.id,
    worker_id: view.workerId,
    parent_id: null,
    title: view.title,
    config: view.config,
    state: view.state,
    active_branch: view.activeBranch,
    branches: view.branches,
    message_count: view.messageCount,
    turn_count: view.turnCount,
    request_count: view.requestCount,
    usage: toUsage(view.usage),
    created_at: toIso(view.createdAt),
    updated_at: toIso(view.updatedAt),
    expires_at: null,
  };
}
