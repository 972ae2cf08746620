// Rows of every kind, so that requests reach the code behind the checks of ids: answered and queued inputs, calls that
// wait for a person, branches, compactions, schedules, deliveries, keys, other tenants.
import { DEFAULT_TENANT, type ContextId, type ToolCallId } from '../../../src/core/ids.ts';
import { setThrottle } from '../../../src/db/processes/throttles.ts';
import { addProcess, converse, take, OUTSIDE } from '../manual-worker.ts';
import { ids, withKey, type Api, type Body } from '../harness.ts';
import type { KnownRows } from './known.ts';
import type { Caller } from './requests.ts';

export const SECRET = 'a-secret-of-the-fuzzer-of-32-characters';
export const KEYS = {
  full: 'full-key-of-the-fuzzer',
  reader: 'read-key-of-the-fuzzer',
  admin: 'admin-key-of-the-fuzzer',
};

/** The headers of each caller. */
export type Credentials = Record<Caller, Record<string, string>>;

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const ALL_SCOPES = ['read', 'run', 'configure', 'approve', 'keys'];

/** `n`: of this stock, among all. */
export async function stock(unnamed: Api, known: KnownRows, n: number): Promise<Credentials> {
  const api = withKey(unnamed, KEYS.full);
  const admin = withKey(unnamed, KEYS.admin);
  const owner = await addProcess(api, { tools: ['lookup'], models: ['simulated'] });
  const context = await conversation(api, owner);
  await waiting(api, owner, 'ask_user');
  await waiting(api, owner, 'lookup');
  const webhook = await made(api, '/api/webhooks', { url: 'http://127.0.0.1:9/hooks', events: ['job.finished'] });
  await api.post(`/api/webhooks/${webhook.id}/test`);
  await made(api, '/api/schedules', { name: 's', cron: '@daily', content: 'x', target: { context_id: context } });
  await api.call('PUT', '/api/roles/reader', { system_prompt: 'You read.' });
  const key = await made(api, '/api/keys', { name: 'k', scopes: ALL_SCOPES });
  const other = await made(admin, '/api/keys', { name: 'first', scopes: ALL_SCOPES, tenant: `other-${n}` });
  await admin.post('/api/tenants', { name: `empty-${n}` });
  const theirs = await made(withKey(unnamed, other.key), '/api/workers', { name: 'w', input: { content: 'x' } });
  const throttle = { id: ids.next(), tenantId: DEFAULT_TENANT, reason: 'rate_limited' } as const;
  const since = Date.now();
  await setThrottle(
    api.database.db,
    { provider: 'simulated', model: 'm', keyId: 'k' },
    { ...throttle, since, refusedAt: since, until: since + 600_000 },
  );
  known.add('throttle', throttle.id);
  known.add('provider', 'simulated');
  known.add('key', KEYS.full);
  known.add('worker', theirs.id);
  known.add('tenant', `other-${n}`);
  known.add('tenant', `empty-${n}`);
  for (const list of LISTS) known.learn(list, (await api.get(`${list}?limit=3`)).body);
  for (const list of ['messages', 'turns', 'branches', 'compactions', 'grants'])
    known.learn(`/api/contexts/${context}/${list}`, (await api.get(`/api/contexts/${context}/${list}`)).body);
  const deliveries = `/api/webhooks/${webhook.id}/deliveries`;
  known.learn(deliveries, (await api.get(deliveries)).body);
  const token = { user: 'alice', scopes: ['read', 'run', 'approve'], expires_in_s: 3_600 };
  return {
    full: bearer(KEYS.full),
    reader: bearer(KEYS.reader),
    admin: bearer(KEYS.admin),
    made: bearer(key.key),
    other: bearer(other.key),
    token: bearer((await made(api, '/api/tokens', token)).token),
    narrow_token: bearer((await made(api, '/api/tokens', { ...token, context_ids: [context] })).token),
    session: { cookie: await signIn(unnamed), 'sec-fetch-site': 'same-origin' },
    none: {},
    unknown: bearer('nsk_unknown'),
  };
}

const LISTS = [
  '/api/workers',
  '/api/contexts',
  '/api/jobs',
  '/api/approvals',
  '/api/roles',
  '/api/schedules',
  '/api/webhooks',
  '/api/keys',
];

async function made(api: Api, path: string, body: object): Promise<Body> {
  const answer = await api.post(path, body);
  if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** Of Alice: two answered inputs, a queued one, and a branch. */
async function conversation(api: Api, owner: Awaited<ReturnType<typeof addProcess>>): Promise<ContextId> {
  const worker = await made(api, '/api/workers', { name: 'w', user: 'alice' });
  const id: ContextId = worker.context_id;
  await converse(api, id, owner, 'one', 'two');
  await converse(api, id, owner, 'three', 'four');
  await api.post(`/api/contexts/${id}/branches`, { name: 'other' });
  await api.post(`/api/contexts/${id}/messages`, { content: 'five' });
  return id;
}

/** A job whose call of this tool waits for a person. */
async function waiting(api: Api, owner: Awaited<ReturnType<typeof addProcess>>, tool: string): Promise<void> {
  const { context_id: id } = await made(api, '/api/workers', { name: 'w', input: { content: 'go' } });
  const manual = await take(api, id, owner, tool === 'ask_user' ? OUTSIDE : []);
  await manual.admit();
  await manual.answer([{ type: 'tool_use', id: ids.next<ToolCallId>(), name: tool, input: { question: 'Which?' } }]);
  await (tool === 'ask_user' ? manual.awaitCalls(Date.now() + 3_600_000) : manual.askApproval());
}

async function signIn(api: Api): Promise<string> {
  const answer = await api.post('/api/session', { key: KEYS.full });
  return [answer.headers['set-cookie'] ?? '']
    .flat()
    .map((cookie) => cookie.split(';')[0])
    .join('; ');
}
