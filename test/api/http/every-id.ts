// A context with an id of every kind, and the requests that name them: what another tenant, or another user, must not
// find.
import type { ToolCallId } from '../../../src/core/ids.ts';
import { OUTSIDE, addProcess, converse, take } from '../manual-worker.ts';
import { ids, type Api, type Body } from '../harness.ts';

export type Owned = { worker: Body; job: string; message: string; toolCall: ToolCallId; schedule: string };

/** A worker whose first job has ended and whose second one waits for an answer. `api`: called as its owner. */
export async function makeOwned(api: Api, of: object = {}): Promise<Owned> {
  const owner = await addProcess(api);
  const toolCall = ids.next<ToolCallId>();
  const { body: worker } = await api.post('/api/workers', { name: 'w', ...of });
  const job = await converse(api, worker.context_id, owner, 'hello', 'hi');
  const { body: messages } = await api.get(`/api/contexts/${worker.context_id}/messages`);
  await api.post(`/api/contexts/${worker.context_id}/messages`, { content: 'order' });
  const manual = await take(api, worker.context_id, owner, OUTSIDE);
  await manual.admit();
  await manual.answer([{ type: 'tool_use', id: toolCall, name: 'ask_user', input: { question: 'Which?' } }]);
  await manual.awaitCalls(Date.now() + 3_600_000);
  const planned = { name: 's', cron: '@daily', content: 'hello', target: { context_id: worker.context_id } };
  const { body: schedule } = await api.post('/api/schedules', planned);
  return { worker, job, message: messages.data[0].id, toolCall, schedule: schedule.id };
}

/** By method and path: bodies of requests that need one. */
export const BODIES: Readonly<Record<string, object>> = {
  'post /api/workers/{id}/messages': { content: 'x' },
  'post /api/contexts/{id}/messages': { content: 'x' },
  'put /api/contexts/{id}': { config: {} },
  'patch /api/contexts/{id}': { title: 'x' },
  'patch /api/workers/{id}': { name: 'x' },
  'post /api/contexts/{id}/branches': { name: 'x' },
  'post /api/contexts/{id}/tools/{tool_call_id}/result': { content: 'x' },
  'post /api/contexts/{id}/tools/approve': { all: true, decision: 'approve' },
  'post /api/contexts/{id}/tools/{tool_call_id}/resolve': { outcome: 'tell' },
  'post /api/contexts/{id}/messages/{message_id}/edit': { content: 'x' },
  'patch /api/schedules/{id}': { name: 'x' },
};

/** A path of the document with its ids in it. */
export function urlOf(path: string, { worker, job, message, toolCall, schedule }: Owned): string {
  const [, , kind = ''] = path.split('/');
  const id = { workers: worker.id, jobs: job, schedules: schedule }[kind] ?? worker.context_id;
  return path
    .replace('{id}', id)
    .replace('{message_id}', message)
    .replace('{tool_call_id}', toolCall)
    .replace('{tool}', 'ask_user')
    .replace('{name}', 'main')
    .replace('{n}', '1');
}

type Tried = { operation: string; isOfOperator: boolean; status: number; code: string };

/** Requests to every path of the document with an id of `owned`, with an `Idempotency-Key` and without. */
export async function tryEveryPath(api: Api, owned: Owned): Promise<Tried[]> {
  const tried: Tried[] = [];
  for (const [path, operations] of Object.entries(api.contract.document.paths)) {
    if (!path.includes('{id}')) continue;
    for (const method of Object.keys(operations)) {
      const operation = `${method} ${path}`;
      for (const headers of [{}, { 'idempotency-key': operation }]) {
        const answer = await api.call(method.toUpperCase(), urlOf(path, owned), BODIES[operation], headers);
        const isOfOperator = path.startsWith('/api/providers/') || path.startsWith('/api/processes/');
        tried.push({ operation, isOfOperator, status: answer.status, code: String(answer.body?.error?.code) });
      }
    }
  }
  return tried;
}

/** What its owner reads of it. */
export async function ownedAnswers(api: Api, { worker, job }: Owned): Promise<Body[]> {
  const context = `/api/contexts/${worker.context_id}`;
  const paths = [`/api/workers/${worker.id}`, context, `${context}/messages`, `/api/jobs/${job}`];
  return Promise.all(paths.map(async (path) => (await api.get(path)).body));
}
