// A token sees what is of its user: for every operation of the document, ids of others of its tenant are not found, what
// is not for users is refused, and lists have nothing of others.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openApi, withKey, type Api, type Body } from '../harness.ts';
import { BODIES as COMMON, makeOwned, urlOf, type Owned } from './every-id.ts';

const NAME = 'the-key-of-acme';
const KEY = { authorization: `Bearer ${NAME}` };

let api: Api;
let owned: Owned;
/** Tokens of the tenant that do not give access to the context of `owned`. */
let strangers: Record<string, string>[];
beforeAll(async () => {
  api = await openApi({ NIGHTSHIFT_API_KEYS: `${NAME}:acme`, NIGHTSHIFT_SECRET_KEY: 's'.repeat(32) });
  owned = await makeOwned(withKey(api, NAME), { user: 'alice' });
  const elsewhere = (await api.post('/api/contexts', { title: 'elsewhere', user: 'alice' }, KEY)).body;
  const scopes = ['read', 'run', 'approve'];
  const made = [
    { user: 'bob', scopes, expires_in_s: 3_600 },
    // Of the same user, but for another context.
    { user: 'alice', scopes, expires_in_s: 3_600, context_ids: [elsewhere.id] },
  ].map(async (wanted) => (await api.post('/api/tokens', wanted, KEY)).body.token);
  strangers = (await Promise.all(made)).map((token: string) => ({ authorization: `Bearer ${token}` }));
});
afterAll(() => api.close());

const BODIES: Readonly<Record<string, object>> = {
  ...COMMON,
  'post /api/jobs/cancel': { status: 'waiting' },
  'post /api/jobs/retry': { filter: { status: 'failed' } },
  'post /api/workers': { name: 'x' },
  'post /api/chat': { message: 'x' },
};

type Operation = { security?: { key?: string[] }[] };

/** Whether a token may have the scope that the operation needs. */
const isForTokens = ({ security = [] }: Operation): boolean =>
  ['read', 'run', 'approve'].includes(security[0]?.key?.[0] ?? '');

/** What a token finds in lists, or makes. */
const OPEN = [
  'get /api/approvals',
  'get /api/contexts',
  'get /api/events',
  'get /api/jobs',
  'get /api/openapi.json',
  'get /api/search',
  'get /api/workers',
  'post /api/jobs/cancel',
  'post /api/jobs/retry',
];
/** One for certain contexts makes none. */
const MAKING = ['post /api/chat', 'post /api/contexts', 'post /api/workers'];
/** They need no credential, or any. */
const WITHOUT = ['delete /api/session', 'get /api/session', 'post /api/session', 'get /healthz', 'get /readyz'];

test('every operation is refused, not found, or has nothing of others', async () => {
  const { worker, job, message, toolCall } = owned;
  const before = await stateOf();
  const found: Record<string, string[]> = { open: [], missing: [], forbidden: [] };
  for (const [path, operations] of Object.entries(api.contract.document.paths)) {
    for (const [method, operation] of Object.entries(operations as Record<string, Operation>)) {
      const name = `${method} ${path}`;
      if (WITHOUT.includes(name)) continue;
      const query = name === 'get /api/search' ? '?q=hello' : '';
      for (const [place, stranger] of strangers.entries()) {
        // That stream does not end by itself.
        const sent = name === 'get /api/events' ? 'HEAD' : method.toUpperCase();
        const answer = await api.call(sent, urlOf(path, owned) + query, BODIES[name], stranger);
        const { status } = answer;
        const made = place === 0 ? 'open' : 'forbidden';
        const expected = MAKING.includes(name) ? made : kindOf(name, path, operation);
        const seen = status === 404 ? 'missing' : status === 403 ? 'forbidden' : 'open';
        expect(`${name} ${seen}`).toBe(`${name} ${expected}`);
        if (seen === 'open') expect([name, status < 300]).toEqual([name, true]);
        for (const secret of [worker.id, worker.context_id, job, message, toolCall, 'hello']) {
          // A message about a missing id repeats it.
          if (seen === 'open') expect([name, JSON.stringify(answer.body).includes(secret)]).toEqual([name, false]);
        }
        found[seen]?.push(name);
      }
    }
  }
  expect(new Set(found['open'])).toEqual(new Set([...OPEN, ...MAKING]));
  expect(new Set(found['missing']).size).toBe(42);
  expect(await stateOf()).toEqual(before);
});

function kindOf(name: string, path: string, operation: Operation): 'open' | 'missing' | 'forbidden' {
  if (OPEN.includes(name)) return 'open';
  return isForTokens(operation) && /^[/]api[/](contexts|workers|jobs)[/][{]id[}]/.test(path) ? 'missing' : 'forbidden';
}

test('ids of others in a context of the own are not found', async () => {
  const [stranger = {}] = strangers;
  const { message, toolCall } = owned;
  const { body: own } = await api.post('/api/contexts', { title: 'own' }, stranger);
  const before = await stateOf();
  let tried = 0;
  for (const [path, operations] of Object.entries(api.contract.document.paths)) {
    if (!/^[/]api[/]contexts[/][{]id[}].*[{](message_id|tool_call_id)[}]/.test(path)) continue;
    for (const [method, operation] of Object.entries(operations as Record<string, Operation>)) {
      if (!isForTokens(operation)) continue;
      tried += 1;
      const url = urlOf(path, owned).replace(owned.worker.context_id, own.id);
      const { status } = await api.call(method.toUpperCase(), url, BODIES[`${method} ${path}`], stranger);
      expect(`${method} ${path} ${status}`).toBe(`${method} ${path} 404`);
    }
  }
  expect(tried).toBeGreaterThanOrEqual(8);
  for (const [path, body] of [
    ['fork', { from_message_id: message }],
    ['branches', { name: 'b', from_message_id: message }],
    ['tools/approve', { tool_call_id: toolCall, decision: 'approve' }],
  ] as const)
    expect([path, (await api.post(`/api/contexts/${own.id}/${path}`, body, stranger)).status]).toEqual([path, 404]);
  expect((await api.get(`/api/contexts/${own.id}/messages?from=${message}`, stranger)).status).toBeGreaterThan(399);
  expect(await stateOf()).toEqual(before);
});

async function stateOf(): Promise<Body[]> {
  const { worker } = owned;
  const paths = [
    `/api/workers/${worker.id}`,
    `/api/contexts/${worker.context_id}`,
    `/api/contexts/${worker.context_id}/messages`,
    `/api/jobs?context_id=${worker.context_id}`,
    '/api/approvals',
  ];
  return Promise.all(paths.map(async (path) => (await api.get(path, KEY)).body));
}
