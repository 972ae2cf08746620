// What the operator asks of a worker process: to pause and to go on, and to drain. A supervisor starts a drained one again.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Asker } from './clients/requests.ts';
import type { Member } from './platform.ts';
import type { Random } from './random.ts';
import { rows } from './world/database.ts';
import type { Drain, Pause } from './world/operated.ts';

export type Operator = {
  ask: Asker;
  databaseUrl: string;
  /** What it did so far. */
  pauses: Pause[];
  drains: Drain[];
};

const EVERY_MS = 50;

type Row = { id: string; status: string; now: number };

export async function pauseAndResume(
  { ask, databaseUrl, pauses }: Operator,
  member: Member,
  random: Random,
): Promise<void> {
  await askFor(ask, databaseUrl, member, 'pause', 'paused');
  const paused = await registered(databaseUrl, member);
  if (paused === null) return;
  const pause: Pause = {
    process: member.name,
    id: paused.id,
    from: paused.status === 'paused' ? paused.now : null,
    to: null,
  };
  pauses.push(pause);
  await sleep(random.between(500, 3_000));
  pause.to = (await registered(databaseUrl, member))?.now ?? null;
  await askFor(ask, databaseUrl, member, 'resume', 'running');
}

export async function drain({ ask, databaseUrl, drains }: Operator, member: Member): Promise<void> {
  const from = Date.now();
  const row = await registered(databaseUrl, member);
  if (row === null) return;
  let last = row.id;
  const ended = await member.end(async () => {
    last = (await askFor(ask, databaseUrl, member, 'drain', null)) ?? last;
  });
  const [held] = await rows<{ count: number }>(
    databaseUrl,
    `select count(*)::int as count from contexts where lease_owner = '${last}'`,
  );
  const during = { from, to: Date.now() };
  drains.push({ process: member.name, id: last, code: ended, leases: held?.count ?? 0, during });
}

/**
 * Until the process has this status; null: until it was asked. It may be registered under another id meanwhile: a request to
 * the one before is refused then. Returns the id that was asked last; null: it has ended.
 */
async function askFor(
  ask: Asker,
  databaseUrl: string,
  member: Member,
  request: 'pause' | 'resume' | 'drain',
  status: string | null,
): Promise<string | null> {
  for (;;) {
    const row = await registered(databaseUrl, member);
    if (row === null || row.status === status || ask.givenUp.aborted) return row?.id ?? null;
    const path = `/api/processes/${row.id}/${request}`;
    const answer = await ask.insist('POST', path, undefined, undefined, { by: 'operator' });
    if (status === null && answer?.status === 202) return row.id;
    await sleep(EVERY_MS);
  }
}

/** Its row; null: it has ended. While it is declared dead it has none, and registers again. */
async function registered(databaseUrl: string, member: Member): Promise<Row | null> {
  const { child } = member;
  if (child === null) return null;
  while (member.child === child) {
    const [row] = await rows<Row>(
      databaseUrl,
      `select id, status, extract(epoch from clock_timestamp())::float8 * 1000 as now from processes
       where pid = ${child.pid} and dead_at is null order by id desc limit 1`,
    );
    if (row !== undefined) return row;
    await sleep(EVERY_MS);
  }
  return null;
}
