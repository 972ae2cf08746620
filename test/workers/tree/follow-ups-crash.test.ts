// Follow-ups when their process dies at any statement, or two processes do them at once: nothing is lost, nothing is
// reported twice.
import { afterEach, describe, expect, test } from 'vitest';
import { DEFAULT_TENANT, DEFAULT_TENANT_NAME, type JobId, type ToolCallId } from '../../../src/core/ids.ts';
import { PEER_LIMITS } from '../../../src/core/workers/peer-limits.ts';
import { openDatabase, type Database } from '../../../src/db/connection/client.ts';
import { suppressDuplicate } from '../../../src/commands/suppress-duplicate.ts';
import { runFollowUps } from '../../../src/workers/process/follow-ups.ts';
import { ids } from '../../db/database-fixture.ts';
import { says, startFleet, type Fleet } from '../worker-fleet.ts';
import { hire } from './peers-fleet.ts';

let fleet: Fleet | null = null;
afterEach(async () => {
  await fleet?.close();
  fleet = null;
});

class Died extends Error {}

/** Statements pass until so many were sent; every later one fails. */
function mortal(url: string): {
  database: Database;
  live: (statements: number) => void;
  dead: () => boolean;
} {
  let left = Infinity;
  const database = openDatabase(url, {
    max: 6,
    hook: () => {
      left -= 1;
      if (left < 0) throw new Died('dead');
    },
  });
  return { database, live: (statements) => (left = statements), dead: () => left < 0 };
}

/** A parent whose job asked two children for work; no process runs any of it. */
async function family(of: Fleet) {
  const parent = await of.createContext();
  const { jobId } = await of.post(parent.contextId, 'x');
  const asked = [];
  for (const input of ['one', 'two']) {
    const id = ids.next<ToolCallId>();
    await of.query(`insert into tool_calls (id, tenant_id, context_id, job_id, message_id, ordinal, name, effect, on_unknown,
      status, finished_at) values ('${id}', 1, '${parent.contextId}', '${jobId}', '${ids.next()}', 0, 'hire',
      'none', 'tell', 'completed', now())`);
    const call = {
      ...parent,
      tenantId: DEFAULT_TENANT,
      tenantName: DEFAULT_TENANT_NAME,
      metadata: {},
      user: null,
      workerName: 'w',
      role: null,
      attempt: 1,
      id,
      jobId,
      name: 'hire',
      input: {},
      idempotencyKey: id,
      traceParent: null,
    };
    asked.push(await hire(of, call, { input }));
  }
  return { parent, jobId, asked };
}

const end = (of: Fleet, jobId: JobId, set: string) =>
  of.query(`update jobs set finished_at = now(), ${set} where id = '${jobId}'`);

async function dieAtEach(prepare: (of: Fleet) => Promise<void>, check: (of: Fleet) => Promise<void>) {
  const of = (fleet = await startFleet({ model: () => says('x'), processes: 0 }));
  const { database, live, dead } = mortal(of.url);
  const log = { warn: () => undefined };
  const ports = { ...of.ports, times: { ...of.ports.times, stopGraceMs: 1_000 }, peers: PEER_LIMITS, log };
  let deaths = 0;
  try {
    for (let at = 0; at === deaths; at += 1) {
      await of.query('update contexts set stopped = false');
      await prepare(of);
      live(at);
      await runFollowUps({ ...ports, database }).catch(() => undefined);
      if (dead()) deaths += 1;
      live(Infinity);
      await Promise.all([runFollowUps(ports), runFollowUps(ports)]);
      await runFollowUps(ports);
      await check(of);
      expect(await of.query(`select 1 from jobs where cascade is not null or parent_notice = 'due'`)).toEqual([]);
    }
  } finally {
    await database.close();
  }
  expect(deaths).toBeGreaterThan(4);
}

describe('a process that dies at any statement', () => {
  test('of a cascade leaves it to others', async () => {
    let last: Awaited<ReturnType<typeof family>> | null = null;
    await dieAtEach(
      async (of) => {
        last = await family(of);
        await end(of, last.jobId, `status = 'cancelled', cascade = 'cancel'`);
      },
      async (of) => {
        for (const { jobId } of last?.asked ?? []) {
          expect(await of.job(jobId)).toMatchObject({ status: 'cancelled', parent_notice: null });
        }
        expect(await of.query('select 1 from jobs where notice_of_job_id is not null')).toEqual([]);
      },
    );
  });

  test('of a parent notice leaves it to others, who report it once', async () => {
    let last: Awaited<ReturnType<typeof family>> | null = null;
    await dieAtEach(
      async (of) => {
        last = await family(of);
        for (const { jobId } of last.asked) await end(of, jobId, `status = 'cancelled', parent_notice = 'due'`);
      },
      async (of) => {
        for (const { jobId } of last?.asked ?? []) {
          expect(await of.query(`select 1 from jobs where notice_of_job_id = '${jobId}'`)).toHaveLength(1);
        }
      },
    );
  });
});

test('an end that a call returns is not reported as well, whether the notice is due or queued', async () => {
  const of = (fleet = await startFleet({ model: () => says('x'), processes: 0 }));
  const { parent, asked } = await family(of);
  const ports = {
    ...of.ports,
    times: { ...of.ports.times, stopGraceMs: 1_000 },
    peers: PEER_LIMITS,
    log: { warn: () => undefined },
  };
  const [one, two] = asked.map(({ jobId }) => jobId);
  if (one === undefined || two === undefined) throw new Error('two were asked');
  await end(of, one, `status = 'cancelled', parent_notice = 'due'`);
  await runFollowUps(ports);
  await end(of, two, `status = 'cancelled', parent_notice = 'due'`);
  const place = { tenantId: DEFAULT_TENANT, contextId: parent.contextId };
  await suppressDuplicate(of.ports, place, [one, two]);
  await suppressDuplicate(of.ports, place, [one, two]);
  await runFollowUps(ports);
  const reports = await of.query('select status, notice_of_job_id from jobs where notice_of_job_id is not null');
  expect(reports).toEqual([{ status: 'cancelled', notice_of_job_id: one }]);
  const [row] = await of.query(`select queued from contexts where id = '${parent.contextId}'`);
  expect(row).toEqual({ queued: 1 });
});

test('an end that a call returns further up is still reported to the worker that asked for it', async () => {
  const of = (fleet = await startFleet({ model: () => says('x'), processes: 0 }));
  const above = await of.createContext();
  const { parent, asked } = await family(of);
  const [one] = asked.map(({ jobId }) => jobId);
  if (one === undefined) throw new Error('two were asked');
  await end(of, one, `status = 'cancelled', parent_notice = 'due'`);
  await suppressDuplicate(of.ports, { tenantId: DEFAULT_TENANT, contextId: above.contextId }, [one]);
  expect(await of.job(one)).toMatchObject({ parent_notice: 'due' });
  const times = { ...of.ports.times, stopGraceMs: 1_000 };
  await runFollowUps({ ...of.ports, times, peers: PEER_LIMITS, log: { warn: () => undefined } });
  const reports = await of.query('select context_id, notice_of_job_id from jobs where notice_of_job_id is not null');
  expect(reports).toEqual([{ context_id: parent.contextId, notice_of_job_id: one }]);
});
