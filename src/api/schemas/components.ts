/** All named components, each once. */
import type { TSchema } from 'typebox';
import { Usage } from './common.ts';
import * as cancelJobs from './cancel-jobs.ts';
import * as config from './config.ts';
import * as context from './context.ts';
import { EVENTS } from './event.ts';
import * as interrupt from './interrupt.ts';
import * as job from './job.ts';
import * as message from './message.ts';
import { Problem } from './problem.ts';
import * as role from './role.ts';
import * as step from './step.ts';
import * as system from './system.ts';
import * as worker from './worker.ts';

type Named = TSchema & { $id: string };

const all: unknown[] = [
  Problem,
  Usage,
  ...Object.values(EVENTS),
  ...[config, worker, context, message, interrupt, job, cancelJobs, step, role, system].flatMap((schemas) =>
    Object.values(schemas),
  ),
];

export const components: readonly Named[] = all.filter(isNamed);

function isNamed(value: unknown): value is Named {
  return typeof value === 'object' && value !== null && '$id' in value && typeof value.$id === 'string';
}
