/** The operator pauses, resumes or drains a worker process. */
import { refuse } from '../../core/errors.ts';
import type { ProcessId } from '../../core/ids.ts';
import type { ProcessStatus } from '../../core/process-status.ts';
import { requestStatus as request } from '../../db/write/request-status.ts';
import { done, type OneStatement } from '../perform.ts';

/** `changed` false: the same was asked of it before. */
export function requestStatus(id: ProcessId, status: ProcessStatus): OneStatement<{ changed: boolean }> {
  return {
    async statement(executor) {
      const requested = await request(executor, id, status);
      switch (requested.kind) {
        case 'done':
          return done({ changed: requested.changed });
        case 'unknown':
          return refuse('not_found', noProcess(id));
        case 'ended':
          return refuse('process_ended', `The worker process ${id} has ended.`);
        case 'draining':
          return refuse(
            'process_draining',
            `The worker process ${id} is draining. It ends once its runs are released.`,
          );
        case 'cannot_drain':
          return refuse(
            'process_not_drainable',
            `The worker process ${id} also serves the API or belongs to another program. Pause it, or stop that program.`,
          );
      }
    },
  };
}

export function noProcess(id: string): string {
  return `No worker process has the id ${id}. Ended ones are listed for at most 7 days.`;
}
