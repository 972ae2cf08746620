// A context with an id of every kind, and the requests that name them: what another tenant, or another user, must not
// find.
import type { ToolCallId } from '../../../src/core/ids.ts';
import { OUTSIDE, addProcess, converse, take } from '../manual-worker.ts';
import { ids, type Api, type Body } from '../harness.ts';

export type Owned = { worker: Body; job: string; message: string; toolCall: ToolCallId };

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
  return { worker, job, message: messages.data[0].id, toolCall };
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
};

/** A path of the document with its ids in it. */
export function urlOf(path: string, { worker, job, message, toolCall }: Owned): string {
  const id = path.includes('/workers/') ? worker.id : path.includes('/jobs/') ? job : worker.context_id;
  return path
    .replace('{id}', id)
    .replace('{message_id}', message)
    .replace('{tool_call_id}', toolCall)
    .replace('{tool}', 'ask_user')
    .replace('{name}', 'main')
    .replace('{n}', '1');
}
