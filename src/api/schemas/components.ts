/** All named components. */
import type { TSchema } from 'typebox';
import { Usage } from './common.ts';
import * as approval from './approval.ts';
import * as branch from './branch.ts';
import * as cancelJobs from './cancel-jobs.ts';
import * as chat from './chat.ts';
import * as compaction from './compaction.ts';
import * as config from './config.ts';
import * as context from './context.ts';
import { EVENTS } from './event.ts';
import * as exported from './export.ts';
import * as imported from './import.ts';
import * as installation from './installation.ts';
import * as interrupt from './interrupt.ts';
import * as job from './job.ts';
import * as message from './message.ts';
import { Problem } from './problem.ts';
import * as role from './role.ts';
import * as search from './search.ts';
import * as session from './session.ts';
import * as statsHistory from './stats-history.ts';
import * as step from './step.ts';
import * as system from './system.ts';
import * as toolCall from './tool-call.ts';
import * as turn from './turn.ts';
import * as worker from './worker.ts';
import * as workerTree from './worker-tree.ts';

type Named = TSchema & { $id: string };

const all: unknown[] = [
  Problem,
  Usage,
  ...Object.values(EVENTS),
  ...[
    compaction,
    config,
    worker,
    workerTree,
    context,
    message,
    turn,
    approval,
    branch,
    chat,
    interrupt,
    job,
    cancelJobs,
    step,
    toolCall,
    role,
    search,
    session,
    exported,
    imported,
    system,
    installation,
    statsHistory,
  ].flatMap((schemas) => Object.values(schemas)),
];

export const components: readonly Named[] = all.filter(isNamed);

function isNamed(value: unknown): value is Named {
  return typeof value === 'object' && value !== null && '$id' in value && typeof value.$id === 'string';
}
