/** Links to the contexts of the workers that a tool call concerns. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ArrowUpRight, Bot } from 'lucide-react';
import type { Context, Json, ToolResultBlock, ToolUseBlock, Worker } from 'nightshift/client';
import { contextStateQuery } from '../../../data/query/contexts.ts';
import { childrenQuery, workerQuery } from '../../../data/query/workers.ts';
import { StatusBadge } from '../../../ui/text/status-badge.tsx';
import { toolWords } from '../../../words.ts';
import css from '../messages/tool-card.module.css';

type Props = { context: Context; block: ToolUseBlock; result: ToolResultBlock | undefined };

export function SpawnedWorkers({ context, block, result }: Props) {
  const { data: state } = useQuery({ ...contextStateQuery(context.id), enabled: result === undefined });
  const awaited = (state?.waiting_for ?? []).flatMap(({ kind, tool_call_id, worker_id }) =>
    kind === 'worker' && tool_call_id === block.id && worker_id !== undefined ? [worker_id] : [],
  );
  const namedInResult = result === undefined ? [] : idsIn(parse(result.content));
  const ids = [...new Set([...awaited, ...namedInResult, ...idsIn(block.input)])];
  const workers = useWorkers(context, ids, block.name !== 'spawn_worker');
  return workers.map((worker) => <WorkerLink key={worker.id} worker={worker} />);
}

/**
 * One query for all workers of all calls: the children of the context's worker. `mayBeOthers`: the call may concern one
 * that is further below.
 */
function useWorkers(context: Context, ids: readonly string[], mayBeOthers: boolean): Worker[] {
  const isShown = ids.length > 0;
  const live = useQuery({ ...childrenQuery(context), enabled: isShown }).data;
  const lacks = (known: readonly Worker[] | undefined): boolean =>
    known !== undefined && ids.some((id) => !known.some((worker) => worker.id === id));
  const archived = useQuery({ ...childrenQuery(context, true), enabled: lacks(live), staleTime: 60_000 }).data;
  const known = [...(live ?? []), ...(archived ?? [])];
  const [only = '', ...more] = ids;
  const isOther = mayBeOthers && more.length === 0 && archived !== undefined && lacks(known);
  const { data: other } = useQuery({ ...workerQuery(only), enabled: isOther });
  return ids.flatMap((id) => [...known, ...(other === undefined ? [] : [other])].find((one) => one.id === id) ?? []);
}

function WorkerLink({ worker: { context_id: contextId, name, state } }: { worker: Worker }) {
  return (
    <Link to="/contexts/$contextId" params={{ contextId }} className={css.worker}>
      <Bot aria-hidden="true" />
      <strong>{name}</strong>
      <StatusBadge status={state} />
      <ArrowUpRight className={css.opens} aria-label={toolWords.openContext} />
    </Link>
  );
}

function parse(content: ToolResultBlock['content']): Json {
  const text =
    typeof content === 'string' ? content : content.map((part) => (part.type === 'text' ? part.text : '')).join('');
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}

/** Collects `worker_id` and `worker_ids` at the top level, or from the items of an array. */
function idsIn(value: Json): string[] {
  if (Array.isArray(value)) return value.flatMap(idsIn);
  if (typeof value !== 'object' || value === null) return [];
  const { worker_id: one, worker_ids: many } = value;
  return [one, ...(Array.isArray(many) ? many : [])].filter((id): id is string => typeof id === 'string');
}
