/** Links to the contexts of the workers that a tool call concerns. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ArrowUpRight, Bot } from 'lucide-react';
import type { Context, Json, ToolResultBlock, ToolUseBlock } from 'nightshift/client';
import { contextStateQuery } from '../../../data/query/contexts.ts';
import { workerQuery } from '../../../data/query/workers.ts';
import { StatusBadge } from '../../../ui/text/status-badge.tsx';
import css from '../messages/tool-card.module.css';

/** Poll interval for an active worker: the stream of this context has no events of other workers. */
const AT_WORK_MS = 3_000;

type Props = { context: Context; block: ToolUseBlock; result: ToolResultBlock | undefined };

export function SpawnedWorkers({ context, block, result }: Props) {
  const { data: state } = useQuery({ ...contextStateQuery(context.id), enabled: result === undefined });
  const awaited = (state?.waiting_for ?? []).flatMap(({ kind, tool_call_id, worker_id }) =>
    kind === 'worker' && tool_call_id === block.id && worker_id !== undefined ? [worker_id] : [],
  );
  const namedInResult = result === undefined ? [] : idsIn(parse(result.content));
  const ids = [...new Set([...awaited, ...namedInResult, ...idsIn(block.input)])];
  return ids.map((id) => <WorkerLink key={id} id={id} />);
}

function WorkerLink({ id }: { id: string }) {
  const { data } = useQuery({
    ...workerQuery(id),
    refetchInterval: ({ state }) =>
      state.data?.state === 'working' || state.data?.state === 'waiting' ? AT_WORK_MS : false,
  });
  if (data === undefined) return null;
  return (
    <Link to="/contexts/$contextId" params={{ contextId: data.context_id }} className={css.worker}>
      <Bot aria-hidden="true" />
      <strong>{data.name}</strong>
      <StatusBadge status={data.state} />
      <ArrowUpRight className={css.opens} aria-label="Open its context" />
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
