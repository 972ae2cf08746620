// A client's command that dies by SIGKILL right before its commit is sent, or right after it was acknowledged and
// before the caller gets the answer: node crash-client.ts before|after cancel <job> | submit <context> | approve
// <context> | create
import { withChanges } from '../../../src/bus/change-publisher.ts';
import type { Actor } from '../../../src/core/access/actor.ts';
import { approveCalls } from '../../../src/commands/calls/approve-calls.ts';
import { cancelJob } from '../../../src/commands/jobs/cancel-job.ts';
import { createWorker } from '../../../src/commands/workers/create-worker.ts';
import { perform } from '../../../src/commands/perform.ts';
import type { CommandPorts } from '../../../src/commands/ports.ts';
import { submitInput } from '../../../src/commands/inputs/submit-input.ts';
import { ids } from '../../../src/platform/ids.ts';
import { DEFAULT_TENANT, parseId, type ContextId, type JobId } from '../../../src/core/ids.ts';
import { openDatabase } from '../../../src/db/connection/client.ts';
import { firstInput, postedInput } from '../../db/inputs.ts';
import { CRASH_TIMES } from './crash-times.ts';
import { watched } from './effects.ts';

const ACTOR: Actor = { kind: 'operator', id: null, user: null, onBehalfOf: null };

const [when, verb, id = ''] = process.argv.slice(2);
const die = (): void => void process.kill(process.pid, 'SIGKILL');
const dieSilently = (): never => {
  throw new Error('the process survived its commit');
};

const ports: CommandPorts = {
  database: watched(openDatabase(process.env['DATABASE_URL'] ?? ''), {
    before: () => (when === 'before' ? die() : undefined),
    after: die,
  }),
  wakeQueue: { notify: dieSilently, isReachable: async () => false, close: async () => undefined },
  bus: withChanges({
    publish: dieSilently,
    subscribe: async () => () => undefined,
    onLost: () => () => undefined,
    close: async () => undefined,
  }),
  ids,
  times: CRASH_TIMES,
  stopGraceMs: CRASH_TIMES.stopGraceMs,
  boundResult: (content) => content,
};

if (verb === 'cancel') {
  const jobId = parseId<JobId>(id);
  if (jobId === null) throw new Error('cancel which job?');
  await perform(ports, cancelJob(ports, { tenantId: DEFAULT_TENANT, jobId, reason: 'crash', by: null }));
} else if (verb === 'approve') {
  const contextId = parseId<ContextId>(id);
  if (contextId === null) throw new Error('approve in which context?');
  const all = {
    toolCallId: null,
    decision: 'approve',
    reason: null,
    input: null,
    remember: { lifetimeS: 3_600 },
    actor: ACTOR,
  } as const;
  await perform(ports, approveCalls({ tenantId: DEFAULT_TENANT, contextId }, all));
} else if (verb === 'create') {
  await perform(
    ports,
    createWorker(
      ports,
      {
        tenantId: DEFAULT_TENANT,
        name: 'test',
        title: null,
        role: null,
        config: { model: 'simulated/default' },
        user: null,
        parentWorkerId: null,
      },
      firstInput('say: heard'),
    ),
  );
} else {
  const contextId = parseId<ContextId>(id);
  if (contextId === null) throw new Error('submit to which context?');
  const input = postedInput({ content: [{ type: 'text', text: 'say: heard' }] });
  await perform(ports, submitInput(ports, { ...input, contextId }));
}
