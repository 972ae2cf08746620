// SIGTERM to a worker process in the middle of work: it waits for calls that must not be repeated, or would be paid for
// twice, all other work continues in another process at once, and the process exits cleanly and owns nothing.
import { afterEach, expect, inject, test } from 'vitest';
import type { ContextId } from '../../../src/core/ids.ts';
import { depth } from '../../services/depth.ts';
import { killChildren, type Child } from '../rig/children.ts';
import { openAccessControl, readOutside } from '../outside/outside-tools.ts';
import { startWorker, type Env } from '../rig/platform.ts';
import { openEnvironment, type TestEnvironment } from '../rig/environment.ts';
import { expectSound, history, transcript } from '../rig/stored.ts';
import { until } from '../rig/until.ts';

const LONG = { timeout: 120_000 };
/** Under load: contexts, and the steps of each one's job. */
const CONTEXTS = depth(10, 30);
const STEPS = depth(8, 20);
const CONFIG = { model: 'simulated/default', tools: ['look', 'put', 'mail', 'pay'] };

let environment: TestEnvironment;
let env: Env;
const redis = inject('redisUrl') !== null;

afterEach(async () => {
  await killChildren();
  await environment.close();
});

async function open(more: Env = {}): Promise<void> {
  environment = await openEnvironment();
  env = {
    ...environment.env,
    NIGHTSHIFT_CONFIG: 'test/e2e/outside/outside.config.ts',
    OUTSIDE: environment.file('outside'),
    LOG_LEVEL: 'info',
    ...more,
  };
}

async function begin(text: string): Promise<ContextId> {
  const contextId = await environment.createContext(CONFIG);
  await environment.post(contextId, text);
  return contextId;
}

const outside = () => readOutside(environment.file('outside'));
const seen = (what: string, name: string): number =>
  outside().filter((line) => line.what === what && line.name === name).length;
const lines = async (contextId: ContextId): Promise<string[]> =>
  transcript(await history(environment.ports.database.db, contextId));

/** Ends a worker by SIGTERM. It exits cleanly, logs no error, and owns nothing. */
async function drain(worker: Child): Promise<number> {
  const [row] = await environment.query(`select id from processes where pid = ${worker.pid} and dead_at is null`);
  const begun = performance.now();
  worker.signal('SIGTERM');
  expect(await worker.exited).toEqual({ code: 0, signal: null });
  const ms = performance.now() - begun;
  expect(worker.lines.filter((line) => /"level":[56]0/.test(line))).toEqual([]);
  expect(await environment.query(`select 1 from contexts where lease_owner = '${String(row?.['id'])}'`)).toEqual([]);
  expect(
    await environment.query(`select 1 from processes where id = '${String(row?.['id'])}' and dead_at is null`),
  ).toEqual([]);
  return ms;
}

/** Every change of owner from now on, recorded by the database: none is too short to be noticed. */
async function watchHandovers(): Promise<() => Promise<{ handovers: number; longest: number }>> {
  await environment.query(
    `create table owners (context_id uuid, owner uuid, at timestamptz default clock_timestamp())`,
  );
  await environment.query(`insert into owners select id, lease_owner from contexts where lease_owner is not null`);
  await environment.query(`create function note_owner() returns trigger language plpgsql as
    'begin insert into owners values (new.id, new.lease_owner); return new; end'`);
  await environment.query(`create trigger owners after update of lease_owner on contexts for each row
    when (old.lease_owner is distinct from new.lease_owner) execute function note_owner()`);
  return async () => {
    const [row] = await environment.query(`
      select count(*)::int as handovers, max(extract(epoch from at - let_go) * 1000)::float8 as longest from (
        select owner, at, lag(at) over line as let_go, lag(owner, 2) over line as before,
          lag(owner) over line as between from owners window line as (partition by context_id order by at)
      ) taken where owner <> before and between is null`);
    return { handovers: Number(row?.['handovers']), longest: Number(row?.['longest']) };
  };
}

test.skipIf(!redis)(
  'a drained worker waits for model calls and `once` calls, and all other work continues elsewhere at once',
  LONG,
  async () => {
    await open({ NIGHTSHIFT_DRAIN_MS: '20000' });
    const first = await startWorker(env);
    // The tools are still running when another worker is up, however long that takes; the model's call takes longer
    // than the wait for repeatable tools.
    const thinking = await begin('wait: 12s\nsay: thought');
    const putting = await begin('call: put {"gated": true}\n---\nsay: it is there');
    const looking = await begin('call: look {"gated": true}\n---\nsay: seen');
    const mailing = await begin('call: mail {"gated": true, "after_ms": 300}\n---\nsay: sent');
    await until('all to be under way', async () => {
      const owned = await environment.query('select 1 from contexts where lease_owner is not null');
      return owned.length === 4 && outside().length === 3;
    });
    const second = await startWorker(env);
    const handovers = await watchHandovers();
    const drained = drain(first);
    await until('the repeatable tools to go on elsewhere', async () => {
      const owned = await environment.query(
        `select 1 from contexts c join processes p on p.id = c.lease_owner where p.pid = ${second.pid}`,
      );
      return owned.length === 2;
    });
    expect([seen('begin', 'mail'), seen('effect', 'mail')]).toEqual([1, 0]);
    openAccessControl(environment.file('outside'));
    const ms = await drained;
    await environment.settled();
    const { handovers: count, longest } = await handovers();
    process.stdout.write(
      `drained in ${Math.round(ms)} ms; ${count} handovers, the longest ${Math.round(longest)} ms\n`,
    );
    expect(count).toBe(3);
    expect(ms).toBeGreaterThan(4_000);
    expect(await lines(thinking)).toEqual(['u1 user: wait: 12s\nsay: thought', 'a1 assistant: thought']);
    expect(
      await environment.query(`select attempt from messages where context_id = '${thinking}' and role = 'assistant'`),
    ).toEqual([{ attempt: 1 }]);
    expect((await lines(putting)).slice(1)).toEqual([
      'a1 assistant: →put',
      'a1 tool: put ← put: done',
      'a1 assistant: it is there',
    ]);
    expect((await lines(looking)).slice(1)).toEqual([
      'a1 assistant: →look',
      'a1 tool: look ← look: done',
      'a1 assistant: seen',
    ]);
    expect((await lines(mailing)).slice(1)).toEqual([
      'a1 assistant: →mail',
      'a1 tool: mail ← mail: done',
      'a1 assistant: sent',
    ]);
    expect([seen('begin', 'mail'), seen('effect', 'mail'), seen('end', 'mail')]).toEqual([1, 1, 1]);
    expect([seen('begin', 'put'), seen('effect', 'put')]).toEqual([2, 1]);
    expect(new Set(outside().flatMap(({ name, key }) => (name === 'put' ? [key] : []))).size).toBe(1);
    for (const contextId of [thinking, putting, looking, mailing]) {
      await expectSound(environment.ports.database.db, contextId);
    }
    await drain(second);
  },
);

test.skipIf(!redis)('a `once` call that outlasts the drain is given up, and reported as unknown', LONG, async () => {
  await open({ NIGHTSHIFT_DRAIN_MS: '1000' });
  const first = await startWorker(env);
  const contextId = await begin('call: mail {"after_ms": 600000}\n---\nsay: we shall see');
  await until('the effect', () => seen('effect', 'mail') === 1);
  const second = await startWorker(env);
  expect(await drain(first)).toBeLessThan(10_000);
  await environment.settled();
  expect((await lines(contextId)).slice(1)).toEqual([
    'a1 assistant: →mail',
    'a1 tool: mail ← unknown',
    'a1 assistant: we shall see',
  ]);
  expect(seen('begin', 'mail')).toBe(1);
  await expectSound(environment.ports.database.db, contextId);
  await drain(second);
});

test.skipIf(!redis)('a second signal ends a process at once', LONG, async () => {
  await open();
  const worker = await startWorker(env);
  await begin('call: mail {"after_ms": 600000}');
  await until('the effect', () => seen('effect', 'mail') === 1);
  worker.signal('SIGTERM');
  await worker.says(/draining/);
  worker.signal('SIGTERM');
  expect(await worker.exited).toEqual({ code: 130, signal: null });
});

test.skipIf(!redis)('workers are replaced one after the other under load, and every job completes', LONG, async () => {
  await open({ NIGHTSHIFT_DRAIN_MS: '10000' });
  const script = Array.from({ length: STEPS }, (_, step) =>
    [`say: step ${step}`, 'wait: 150ms', 'call: mail {"before_ms": 20}', 'call: look {}'].join('\n'),
  ).join('\n---\n');
  let worker = await startWorker(env);
  const contexts: ContextId[] = [];
  const last = 'call: look {"gated": true}\n---\nsay: all done';
  for (let count = 0; count < CONTEXTS; count += 1) contexts.push(await begin(`${script}\n---\n${last}`));
  const handovers = await watchHandovers();
  let replaced = 0;
  while (!(await environment.isSettled())) {
    const next = await startWorker(env);
    await drain(worker);
    worker = next;
    replaced += 1;
    // No job has ended before, however fast it all is.
    if (replaced === 2) openAccessControl(environment.file('outside'));
  }
  const { handovers: count, longest } = await handovers();
  process.stdout.write(`${replaced} workers replaced, ${count} handovers, the longest ${Math.round(longest)} ms\n`);
  expect(replaced).toBeGreaterThan(1);
  for (const contextId of contexts) {
    const received = await lines(contextId);
    expect(received.slice(1)).toEqual([
      ...Array.from({ length: STEPS }, (_, step) => [
        `a1 assistant: step ${step} →mail →look`,
        'a1 tool: mail ← mail: done',
        'a1 tool: look ← look: done',
      ]).flat(),
      'a1 assistant: →look',
      'a1 tool: look ← look: done',
      'a1 assistant: all done',
    ]);
    await expectSound(environment.ports.database.db, contextId);
  }
  expect(seen('effect', 'mail')).toBe(CONTEXTS * STEPS);
  await drain(worker);
});
