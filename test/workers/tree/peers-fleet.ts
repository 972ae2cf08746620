// A fleet in which workers ask others for work: the tool `hire` makes a child directly and gives it a job.
import { createWorker } from '../../../src/commands/workers/create-worker.ts';
import { DEFAULT_TENANT, type ContextId, type JobId, type WorkerId } from '../../../src/core/ids.ts';
import type { ModelRequest } from '../../../src/core/model/model.ts';
import type { ToolInvocation } from '../../../src/core/tools/tool.ts';
import { submit } from '../../../src/db/write/inputs/submit.ts';
import { ids } from '../../db/database-fixture.ts';
import { submissionTo } from '../../db/inputs.ts';
import { result, startFleet, type Fleet, type FleetOptions, type Tools } from '../worker-fleet.ts';

export type Hired = { workerId: WorkerId; contextId: ContextId; jobId: JobId };

/** The last input of a prompt. */
export function lastInput({ messages }: ModelRequest): string {
  const texts = messages.flatMap(({ role, content }) =>
    role === 'user' ? content.map((block) => (block.type === 'text' ? block.text : '')) : [],
  );
  return texts.findLast((text) => text !== '') ?? '';
}

export type Asked = { input: string; detached?: boolean; worker?: WorkerId };

/** Makes a child of the worker whose call runs, or takes the named one, and gives it a job that the call asks for. */
export async function hire(of: Fleet, call: ToolInvocation, asked: Asked): Promise<Hired> {
  const { workerId, contextId } =
    asked.worker === undefined
      ? await of.perform(
          createWorker(of.ports, {
            tenantId: DEFAULT_TENANT,
            user: null,
            name: asked.input,
            title: null,
            role: null,
            config: {},
            parentWorkerId: call.workerId,
          }),
        )
      : await placeOf(of, asked.worker);
  if (asked.detached === true) await of.query(`update workers set detached = true where id = '${workerId}'`);
  const jobId = ids.next<JobId>();
  const submitted = await submit(
    of.database.db,
    submissionTo(contextId, {
      jobId,
      input: { messageId: ids.next(), content: [{ type: 'text', text: asked.input }] },
      mayAnswer: false,
    }),
    {
      workerId: call.workerId,
      hops: 1,
      parentJobId: call.jobId,
      user: call.user,
      toolCallId: call.id,
      notifyParent: true,
      noticeOfJobId: null,
    },
  );
  if (submitted === null) throw new Error('the job was refused');
  const { wakeSeq, epoch, runnable } = submitted;
  if (runnable) of.ports.wakeQueue.notify({ contextId, wakeSeq, epoch });
  return { workerId, contextId, jobId };
}

async function placeOf(of: Fleet, workerId: WorkerId) {
  const [row] = await of.query(`select context_id from workers where id = '${workerId}'`);
  return { workerId, contextId: String(row?.['context_id']) as ContextId };
}

export type Crew = Fleet & { hired: Hired[] };

/** `hire` records its children, in order. */
export async function startCrew(options: Omit<FleetOptions, 'tools'> & { tools?: Tools }): Promise<Crew> {
  const hired: Hired[] = [];
  const started: { fleet: Fleet | null } = { fleet: null };
  const tools: Tools = {
    hire: {
      effect: 'idempotent',
      async execute(call) {
        if (started.fleet === null) throw new Error('too early');
        hired.push(await hire(started.fleet, call, call.input as Asked));
        return result('hired');
      },
    },
    ...options.tools,
  };
  started.fleet = await startFleet({ ...options, tools });
  return { ...started.fleet, hired };
}
