// A process dies at every point of a call of a transactional tool: before the tool, within it, before the commit, and
// between the commit and the append. The row of the tool is there exactly once, each time.
import { afterAll, expect, test } from 'vitest';
import { depth } from '../../services/depth.ts';
import { killChildren } from '../rig/children.ts';
import { until } from '../rig/until.ts';
import { withEnvironment } from '../rig/environment.ts';
import { history, transcript } from '../rig/stored.ts';
import { pino } from 'pino';
import { TRANSACTIONAL, startCrashProcess } from './crash-process.ts';
import { crashEnv, dieEverywhere, startCrashWorker, type Cast, type Play } from './crash-scenarios.ts';
import { ENTRIES, MAKE_ENTRIES } from './enter-tool.ts';
import { inCommit } from '../../workers/run/transacting.ts';

afterAll(killChildren);

const ENTER = 'call: enter {}\n---\nsay: done';

async function expectOneEntry({ environment, contextIds: [contextId] }: Cast): Promise<void> {
  if (contextId === undefined) throw new Error('no context');
  expect(transcript(await history(environment.ports.database.db, contextId))).toEqual([
    `u1 user: ${ENTER}`,
    'a1 assistant: →enter',
    'a1 tool: enter ← entered',
    'a1 assistant: done',
  ]);
  const entries = await environment.query(`
    select e.note, t.status from ${ENTRIES} e join tool_calls t on t.id = e.call_id`);
  expect(entries).toEqual([{ note: 'entered', status: 'completed' }]);
  const ledger = await environment.query('select number, outcome from tool_executions');
  expect(ledger).toEqual([{ number: 1, outcome: 'completed' }]);
}

const play: Play = {
  inputs: [[ENTER]],
  config: { tools: ['enter'] },
  env: () => TRANSACTIONAL,
  async begin({ environment }) {
    await environment.query(MAKE_ENTRIES);
  },
  expect: expectOneEntry,
};

/** How many effects there are at least: the three of the tool and its transaction among them. */
const LEAST = 7;

test.each(depth(['after'] as const, ['after', 'before'] as const))(
  'dying right %s an effect leaves one row of the tool',
  { timeout: 240_000 },
  async (when) => {
    const died = await dieEverywhere(play, when);
    process.stdout.write(`died right ${when} ${died} effects of a transactional call\n`);
    expect(died).toBeGreaterThanOrEqual(LEAST);
  },
);

test('dying while PostgreSQL commits leaves one row of the tool', { timeout: 60_000 }, async () => {
  await withEnvironment(async (environment) => {
    await environment.query(MAKE_ENTRIES);
    await environment.query(`create function public.commit_slowly() returns trigger language plpgsql as $$
      begin perform pg_sleep(0.3); return null; end $$`);
    for (const text of inCommit(ENTRIES, 'commit_slowly')) await environment.query(text);
    const contextId = await environment.createContext({ model: 'simulated/default', tools: ['enter'] });
    const jobId = await environment.post(contextId, ENTER);
    const first = startCrashWorker(environment, TRANSACTIONAL);
    const committing = `select 1 from pg_stat_activity where application_name = 'tools-of-nightshift'
      and datname = current_database() and state = 'active' and query = 'commit'`;
    await until('the commit', async () => (await environment.query(committing)).length > 0);
    first.signal('SIGKILL');
    await first.exited;
    const drain = await startCrashProcess({
      env: { ...crashEnv(environment), ...TRANSACTIONAL },
      open: (options) => environment.open(options),
      watcher: { before: () => undefined, after: () => undefined },
      log: pino({ level: 'silent' }),
    });
    await environment.settled();
    await drain();
    await expectOneEntry({ environment, contextIds: [contextId], jobIds: [jobId] });
    await environment.query(`drop table ${ENTRIES}`);
    await environment.query('drop function public.commit_slowly');
    await environment.query('drop function public.put_off');
  });
});
