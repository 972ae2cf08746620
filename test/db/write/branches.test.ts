// Branches in the database: the reads of a branch, its writes, and that a change is complete or absent.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RunSignals } from '../../../src/agent/run-signals.ts';
import { editInput } from '../../../src/commands/inputs/regenerate.ts';
import { createBranch, deleteBranch, switchBranch } from '../../../src/commands/contexts/change-branches.ts';
import { forkContext } from '../../../src/commands/contexts/fork-context.ts';
import { perform, type Command } from '../../../src/commands/perform.ts';
import type { CommandPorts } from '../../../src/commands/ports.ts';
import { submitInput } from '../../../src/commands/inputs/submit-input.ts';
import { DEFAULT_TENANT, type ContextId, type MessageId } from '../../../src/core/ids.ts';
import { readHistory } from '../../../src/db/run/history.ts';
import { withdraw } from '../../../src/db/run/stop-requests.ts';
import { createJournal, readSnapshot } from '../../../src/workers/run/journal.ts';
import { tagOf } from '../../services/statements.ts';
import { given, ids, type Given } from '../database-fixture.ts';
import { postedInput } from '../inputs.ts';
import { workerState } from '../worker-state.ts';

let the: Given;
beforeAll(async () => {
  the = await given();
});
afterAll(() => the.close());

const tenantId = DEFAULT_TENANT;

/** So many turns on `main`, without a job. */
async function conversation(turns: number): Promise<{ contextId: ContextId; inputs: MessageId[] }> {
  const { contextId } = await the.context();
  const inputs: MessageId[] = [];
  for (let turn = 1; turn <= turns; turn += 1) {
    const input = ids.next<MessageId>();
    inputs.push(input);
    await the.rows(`
      insert into messages (id, tenant_id, context_id, branch, seq, role, type, turn, status, content) values
      ('${input}', 1, '${contextId}', 'main', ${turn * 2 - 1}, 'user', 'text', 'u${turn}', 'completed', '[]'),
      ('${ids.next()}', 1, '${contextId}', 'main', ${turn * 2}, 'assistant', 'text', 'a${turn}', 'completed', '[]')`);
  }
  await the.rows(`update contexts set head_seq = ${turns * 2}, turn_count = ${turns} where id = '${contextId}'`);
  return { contextId, inputs };
}

const turns = async (contextId: ContextId, branch: string) =>
  (await readHistory(the.database.db, { contextId, tenantId }, branch)).map(({ turn }) => turn);

/** All rows of a context, except for those of its creation. */
async function stored(contextId: ContextId) {
  return Promise.all([
    the.row(contextId),
    the.rows(`select * from branches where context_id = '${contextId}' order by name`),
    the.rows(`select * from jobs where context_id = '${contextId}'`),
    the.rows(`select * from events where context_id = '${contextId}'`),
    the.rows(`select count(*) from messages where context_id = '${contextId}'`),
    the.rows(`select count(*) from workers where parent_context_id = '${contextId}'`),
  ]);
}

describe('a process that dies at any statement leaves all or nothing', () => {
  const commands: [string, (ports: CommandPorts, contextId: ContextId, input: MessageId) => Command<object>][] = [
    [
      'of an edit',
      (ports, contextId, messageId) =>
        editInput(ports, {
          messageId,
          name: null,
          input: { ...postedInput(), contextId, content: [{ type: 'text', text: 'x' }] },
        }),
    ],
    [
      'of a branch',
      (_, contextId, fromMessageId) =>
        createBranch({ tenantId, contextId, name: 'x', fromBranch: null, fromMessageId, activate: true }),
    ],
    [
      'of a fork',
      (ports, contextId, fromMessageId) => forkContext(ports, { tenantId, contextId, fromMessageId, title: null }),
    ],
  ];

  test.each(commands)('%s', async (_, command) => {
    const { contextId, inputs } = await conversation(3);
    const input = inputs[1] ?? ids.next<MessageId>();
    const before = await stored(contextId);
    let isDone = false;
    let died = 0;
    for (let last = 0; !isDone; last += 1) {
      let count = 0;
      const database = the.open({
        max: 1,
        hook: (text) => {
          if (text !== 'begin' && text !== 'rollback' && (count += 1) > last) throw new Error('died');
        },
      });
      const ports = the.ports(database);
      const outcome = await perform(ports, command(ports, contextId, input)).catch(() => null);
      await database.close();
      isDone = outcome?.kind === 'done';
      if (!isDone) expect(await stored(contextId)).toEqual(before);
      if (!isDone) died += 1;
    }
    expect(died).toBeGreaterThan(3);
    expect(await stored(contextId)).not.toEqual(before);
    expect(await turns(contextId, 'main')).toHaveLength(6);
  });
});

test('a branch that is being deleted takes no job: the first of the two wins', async () => {
  for (let round = 0; round < 10; round += 1) {
    const { contextId } = await conversation(1);
    const ports = the.ports();
    const target = { tenantId, contextId };
    const made = createBranch({
      ...target,
      name: 'x',
      fromBranch: null,
      fromMessageId: null,
      activate: false,
    });
    await perform(ports, made);
    const input = { ...postedInput({ branch: 'x' }), contextId };
    const [deleted, posted] = await Promise.all([
      perform(ports, deleteBranch(target, 'x')),
      perform(ports, submitInput(ports, input)),
    ]);
    expect([deleted.kind, posted.kind].toSorted()).toEqual(['done', 'refused']);
    const [left] = await the.rows(`select count(*)::int as n from jobs j where context_id = '${contextId}'
      and not exists (select 1 from branches b where b.context_id = j.context_id and b.name = j.branch)`);
    expect(left).toEqual({ n: 0 });
  }
});

test('an input without a branch goes to the one that is active when its turn comes', async () => {
  const { contextId } = await conversation(1);
  const ports = the.ports();
  const target = { tenantId, contextId };
  await perform(ports, createBranch({ ...target, name: 'x', fromBranch: null, fromMessageId: null, activate: false }));
  const { promise: locked, resolve: letGo } = Promise.withResolvers<void>();
  const { promise: switched, resolve: isSwitched } = Promise.withResolvers<void>();
  const switching = the.database.transaction(async (tx) => {
    await switchBranch(target, 'x')(tx);
    isSwitched();
    await locked;
  });
  await switched;
  const posted = the.submit(contextId);
  await expect
    .poll(() =>
      the.rows(`select 1 from pg_stat_activity where datname = current_database()
        and cardinality(pg_blocking_pids(pid)) > 0`),
    )
    .toHaveLength(1);
  letGo();
  await switching;
  const [row] = await the.rows(`select branch from jobs where id = '${await posted}'`);
  expect(row).toEqual({ branch: 'x' });
});

test('an owner that knew a branch reads the one that has its name by now', async () => {
  const { contextId, inputs } = await conversation(2);
  const ports = the.ports();
  const place = { tenantId, contextId };
  const make = async (fromMessageId: MessageId | null) => {
    const branch = { ...place, name: 'x', fromBranch: null, fromMessageId, activate: false };
    expect((await perform(ports, createBranch(branch))).kind).toBe('done');
    const input = { ...postedInput({ branch: 'x' }), contextId };
    const posted = await perform(ports, submitInput(ports, input));
    if (posted.kind === 'refused') throw new Error(posted.message);
    return posted.value.jobId;
  };
  const first = await make(null);
  const state = workerState(the);
  const known = await readSnapshot(state, the.database.db, await the.claimed(contextId));
  if (known === null) throw new Error('the worker is gone');
  expect(known.history.map(({ turn }) => turn)).toEqual(['u1', 'a1', 'u2', 'a2']);
  await withdraw(the.database.db, { tenantId, contextId }, [first], { reason: null, by: null });
  expect((await perform(ports, deleteBranch(place, 'x'))).kind).toBe('done');
  await make(inputs[0] ?? null);
  const silent = { committed: () => undefined };
  const journal = createJournal(state, new RunSignals(), silent, await the.process());
  const now = await journal.reload(known);
  expect(now.history.map(({ turn }) => turn)).toEqual(['u1']);
});

test('an input that arrives on another branch while a snapshot is read without a lock does not change whose history it is', async () => {
  const { contextId, inputs } = await conversation(2);
  const ports = the.ports();
  const place = { tenantId, contextId };
  const branch = { ...place, name: 'x', fromBranch: null, fromMessageId: inputs[0] ?? null, activate: false };
  const post = async (name: string, priority: number) => {
    const input = { ...postedInput({ branch: name, priority }), contextId };
    expect((await perform(ports, submitInput(ports, input))).kind).toBe('done');
  };
  expect((await perform(ports, createBranch(branch))).kind).toBe('done');
  await post('main', 5);
  const row = await the.claimed(contextId);
  let isPosted = false;
  const database = the.open({
    max: 6,
    hook: async (text) => {
      if (isPosted || tagOf(text) !== 'history.read') return;
      isPosted = true;
      await post('x', 1);
    },
  });
  const found = await readSnapshot(workerState(the), database.db, row);
  expect(isPosted).toBe(true);
  expect(found?.activeBranch).toBe('main');
  const history = await readHistory(the.database.db, place, 'main');
  expect(found?.history.map(({ id }) => id)).toEqual(history.map(({ id }) => id));
});

test('a branch costs the same however long its parent is', async () => {
  const statements: string[] = [];
  const database = the.open({ max: 1, hook: (text) => void statements.push(text) });
  const counts: number[] = [];
  for (const long of [1, 60]) {
    const { contextId, inputs } = await conversation(long);
    statements.length = 0;
    const fromMessageId = inputs[0] ?? null;
    const command = createBranch({
      tenantId,
      contextId,
      name: 'x',
      fromBranch: null,
      fromMessageId,
      activate: true,
    });
    expect((await perform(the.ports(database), command)).kind).toBe('done');
    counts.push(statements.length);
    expect(await turns(contextId, 'x')).toEqual(['u1']);
  }
  expect(counts[0]).toBe(counts[1]);
});
