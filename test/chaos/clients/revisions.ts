// Past inputs that are edited or retried, each on a branch of its own.
import { setTimeout as sleep } from 'node:timers/promises';
import { postAttended } from './questions.ts';
import type { Client } from './crowd.ts';
import { write, type Script } from './inputs.ts';
import { toPost } from './posting.ts';
import type { Posted } from '../world/world.ts';

/** Inputs that end only by a request or by the clock, or whose workers would be made twice, are not retried. */
const ONLY_ONCE = ['endless', 'late', 'spawning', 'hopeless'];

/** A new input in the place of some input of this context. */
export async function editPast(client: Client, { tag, contextId }: Posted): Promise<void> {
  const past = await pick(client, contextId);
  if (past === null) return;
  const own = `${tag}-instead`;
  await postRevision(client, toPost(own, contextId, write(own, client.random, true)), 'edit', past.messageId);
}

export async function regenerate(client: Client, { tag, contextId }: Posted): Promise<void> {
  const past = await pick(client, contextId);
  if (past === null) return;
  const posted = toPost(`${tag}-again`, contextId, past.script);
  await postRevision(client, posted, 'regenerate', past.messageId);
}

/** Null: none has a message that is known. */
async function pick(
  { random, crowd }: Client,
  contextId: string,
): Promise<{ script: Script; messageId: string } | null> {
  await sleep(random.between(0, 4_000));
  const known = crowd.inputs.flatMap((input) => {
    const { script, outcome } = input;
    const isKnown = input.contextId === contextId && !ONLY_ONCE.includes(script.shape);
    return isKnown && outcome.kind === 'accepted' && outcome.messageId !== null
      ? [{ script, messageId: outcome.messageId }]
      : [];
  });
  return known.length === 0 ? null : random.pick(known);
}

async function postRevision(
  client: Client,
  posted: Posted,
  kind: 'edit' | 'regenerate',
  messageId: string,
): Promise<void> {
  const delivery = client.random.chance(0.2) ? 'interrupt' : 'queue';
  await postAttended(client, { ...posted, delivery, revision: { kind, messageId } });
}
