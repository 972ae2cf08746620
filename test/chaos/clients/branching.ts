// Branches that are made, posted on, switched to and deleted, and histories that are cleared. Names are few, so that
// they are used again.
import { setTimeout as sleep } from 'node:timers/promises';
import { postAttended } from './questions.ts';
import type { Client } from './crowd.ts';
import { write } from './inputs.ts';
import { toPost } from './posting.ts';
import type { Change, Posted } from '../world/world.ts';
import { MAIN } from '../../../src/core/conversation/branch.ts';
import type { Method } from './requests.ts';

const NAMES = ['side', 'draft', 'other'] as const;

/** The named row may be deleted, or not be permanent yet. */
const MAY_BE_GONE = { fine: [404, 422] };

/** From some message of the context, or from all complete ones; then an input on it, by its name. */
export async function branchOff(client: Client, { tag, contextId }: Posted): Promise<void> {
  const { random, crowd } = client;
  await sleep(random.between(0, 2_000));
  const name = random.pick(NAMES);
  const messages = crowd.inputs.flatMap(({ contextId: of, outcome }) =>
    of === contextId && outcome.kind === 'accepted' && outcome.messageId !== null ? [outcome.messageId] : [],
  );
  const activate = random.chance(0.3);
  const body = {
    name,
    ...(messages.length > 0 && random.chance(0.7) ? { from_message_id: random.pick(messages) } : {}),
    ...(activate ? { activate } : {}),
  };
  const one = begun(client, { contextId, key: `branch-${tag}`, kind: 'create', branch: name });
  one.activates = activate;
  await carryOut(client, one, 'POST', `/api/contexts/${contextId}/branches`, body);
  if (one.outcome !== 'taken') return;
  const own = `${tag}-aside`;
  await postAttended(client, { ...toPost(own, contextId, write(own, random, true)), branch: name });
}

export async function switchBranch(client: Client, { tag, contextId }: Posted): Promise<void> {
  const { random } = client;
  await sleep(random.between(0, 2_000));
  const name = random.pick([MAIN, ...knownIn(client, contextId)]);
  const one = begun(client, { contextId, key: `switch-${tag}`, kind: 'switch', branch: name });
  await carryOut(client, one, 'PUT', `/api/contexts/${contextId}/branches/${name}`);
}

export async function deleteBranch(client: Client, { tag, contextId }: Posted): Promise<void> {
  const { random } = client;
  await sleep(random.between(0, 4_000));
  const known = knownIn(client, contextId);
  if (known.length === 0) return;
  const name = random.pick(known);
  const one = begun(client, { contextId, key: `delete-${tag}`, kind: 'delete', branch: name });
  await carryOut(client, one, 'DELETE', `/api/contexts/${contextId}/branches/${name}`);
}

/** Tried a few times: it is refused while anything is unfinished. */
export async function clear(client: Client, { tag, contextId }: Posted): Promise<void> {
  const { random } = client;
  for (let tries = 1; tries <= 4; tries += 1) {
    await sleep(random.between(500, 3_000));
    const one = begun(client, { contextId, key: `clear-${tag}-${tries}`, kind: 'clear', branch: null });
    await carryOut(client, one, 'POST', `/api/contexts/${contextId}/clear`);
    if (one.outcome !== 'refused') return;
  }
}

function begun({ crowd }: Client, what: Pick<Change, 'contextId' | 'key' | 'kind' | 'branch'>): Change {
  const one: Change = { ...what, activates: false, outcome: 'pending' };
  crowd.changes.push(one);
  return one;
}

/** Sometimes the same request again: the answer is byte for byte the same. */
async function carryOut(
  { ask, random, crowd }: Client,
  one: Change,
  method: Method,
  path: string,
  body?: object,
): Promise<void> {
  const answer = await ask.insist(method, path, body, one.key, MAY_BE_GONE);
  if (answer === null) return;
  one.outcome = answer.status < 300 ? 'taken' : 'refused';
  if (one.outcome === 'refused' || !random.chance(0.3)) return;
  const again = await ask.insist(method, path, body, one.key, MAY_BE_GONE);
  if (again !== null && (again.status !== answer.status || again.text !== answer.text)) {
    crowd.repeats.push({ tag: one.key, first: answer.text, again: again.text });
  }
}

/** Names that were given in this context, whether or not they exist now. */
function knownIn({ crowd }: Client, contextId: string): string[] {
  const made = crowd.changes.filter((one) => one.contextId === contextId && one.kind === 'create');
  const revision = crowd.inputs.flatMap(({ contextId: of, outcome }) =>
    of === contextId && outcome.kind === 'accepted' && outcome.branch !== null ? [outcome.branch] : [],
  );
  return [...new Set([...made.flatMap(({ branch }) => branch ?? []), ...revision])];
}
