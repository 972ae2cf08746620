/** A worker and all workers below it in the API. */
import { Type, type Static } from 'typebox';
import { JOB_STATUSES } from '../../../core/run/job.ts';
import { WORKER_STATES } from '../../../db/read/contexts/worker-views.ts';
import { Count, Instant, Usage, Uuid } from '../common.ts';
import { nullable, oneOf, ref, strict } from '../../../schema/build.ts';

export const WorkerTreeJob = strict(
  {
    id: Uuid,
    status: oneOf(JOB_STATUSES),
    started_at: nullable(Instant),
    finished_at: nullable(Instant),
  },
  { $id: 'WorkerTreeJob', description: 'The unfinished job, or else the last one.' },
);

const node = {
  id: Uuid,
  name: Type.String(),
  context_id: Uuid,
  depth: Count,
  detached: Type.Boolean({ description: 'The worker continues when its parent is stopped or deleted.' }),
  state: oneOf(WORKER_STATES),
  job: nullable(ref(WorkerTreeJob)),
  usage: ref(Usage),
};

const own = strict(node);
export type WorkerTreeNode = Static<typeof own> & { children: WorkerTreeNode[] };

const children = Type.Unsafe<WorkerTreeNode[]>({ type: 'array', items: { $ref: 'WorkerTreeNode#' } });

export const WorkerTreeNode = strict({ ...node, children }, { $id: 'WorkerTreeNode' });

export const WorkerTree = strict(
  {
    ...node,
    children,
    truncated: Type.Boolean({ description: 'The tree has more workers; the deepest ones are left out.' }),
  },
  { $id: 'WorkerTree' },
);
export type WorkerTree = Static<typeof WorkerTree>;

export const WorkerTreeQuery = strict({
  limit: Type.Integer({
    minimum: 1,
    maximum: 1_000,
    default: 200,
    description: 'Maximum number of workers in the response.',
  }),
});
