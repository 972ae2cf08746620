// A process dies at every effect around calls whose outcome is known: to the tool itself, or to a person who checks. In
// the end every effect happened at most once, every effect reported as happened did happen, and the ledger has each
// execution.
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { afterAll, expect, test } from 'vitest';
import { perform } from '../../../src/commands/perform.ts';
import { resolveCall, type Resolved } from '../../../src/commands/calls/resolve-call.ts';
import { DEFAULT_TENANT, type ContextId, type ToolCallId } from '../../../src/core/ids.ts';
import { depth } from '../../services/depth.ts';
import { killChildren } from '../rig/children.ts';
import { dieAtEachKind, dieEverywhere, effectsOf, type Cast, type Play } from './crash-scenarios.ts';
import { hasHappened, readOutside } from '../outside/outside-tools.ts';
import { history, transcript } from '../rig/stored.ts';

afterAll(killChildren);

const WORK = `say: off
call: wire {"before_ms": 40, "after_ms": 30}
call: book {"before_ms": 60, "after_ms": 30}
---
say: done`;

/** The person's report for each call that waits for its outcome. */
async function answer({ environment }: Cast, say: (key: string) => Resolved, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const waiting = await environment.query(sql`
      select context_id, id from tool_calls where status = ${'waiting'} and waits_for = 'outcome' and reply is null`);
    for (const row of waiting) {
      const target = {
        tenantId: DEFAULT_TENANT,
        contextId: String(row['context_id']) as ContextId,
        toolCallId: String(row['id']) as ToolCallId,
      };
      await perform(environment.ports, resolveCall(environment.ports, target, say(target.toolCallId)));
    }
    await sleep(50);
  }
}

async function expectReported(cast: Cast, results: RegExp): Promise<void> {
  const { environment, contextIds } = cast;
  const [contextId] = contextIds;
  if (contextId === undefined) throw new Error('no context');
  const lines = transcript(await history(environment.ports.database.db, contextId));
  expect(lines).toHaveLength(5);
  expect([lines[0], lines[1], lines[4]]).toEqual([
    `u1 user: ${WORK}`,
    'a1 assistant: off →wire →book',
    'a1 assistant: done',
  ]);
  expect(lines).toContain('a1 tool: book ← book: done');
  expect(lines.find((line) => line.startsWith('a1 tool: wire'))).toMatch(results);
  expect(effectsOf(environment, 'book')).toBe(1);
  expect(effectsOf(environment, 'wire')).toBeLessThanOrEqual(1);
  await expectLedger(cast);
}

/** Every start outside is in it, nothing is left open, and the last entry has the end of the call. */
async function expectLedger({ environment }: Cast): Promise<void> {
  const rows = await environment.query(`
    select t.id, t.name, t.status, jsonb_agg(x.outcome order by x.number) as outcomes,
      jsonb_agg(x.number order by x.number) as numbers, bool_and(x.idempotency_key = t.id::text) as keyed
    from tool_calls t join tool_executions x on x.tool_call_id = t.id group by t.id order by t.name`);
  expect(rows.map(({ name }) => name)).toEqual(['book', 'wire']);
  const begun = readOutside(environment.file('outside')).filter(({ what }) => what === 'begin');
  for (const { id, status, outcomes, numbers, keyed } of rows) {
    expect(keyed).toBe(true);
    expect(numbers).toEqual((outcomes as unknown[]).map((_, at) => at + 1));
    expect((outcomes as unknown[]).at(-1)).toBe(status);
    for (const earlier of (outcomes as unknown[]).slice(0, -1)) expect(earlier).toBe('did_not_happen');
    expect(begun.filter(({ key }) => key === id).length).toBeLessThanOrEqual((outcomes as unknown[]).length);
  }
}

/** A person who checks outside, and reports the true outcome. */
const truthful: Play = {
  inputs: [[WORK]],
  beside: (cast, isOver) =>
    answer(
      cast,
      (key) =>
        hasHappened(cast.environment.file('outside'), 'wire', key)
          ? { outcome: 'happened', result: 'wire: done' }
          : { outcome: 'did_not_happen' },
      isOver,
    ),
  async expect(cast) {
    await expectReported(cast, /← wire: done$/);
    expect(effectsOf(cast.environment, 'wire')).toBe(1);
  },
};

/** The outcome cannot be known: the model is informed. */
const telling: Play = {
  inputs: [[WORK]],
  beside: (cast, isOver) => answer(cast, () => ({ outcome: 'tell' }), isOver),
  expect: (cast, begun) => expectReported(cast, begun.has('wire') ? /← unknown$/ : /← wire: done$/),
};

/** How many effects there are at least, and how many kinds of them. */
const LEAST = 7;
const KINDS = 4;

const CASES = [
  { when: 'after', what: 'a person reports the true outcome', play: truthful, isInGate: true, isEach: true },
  {
    when: 'before',
    what: 'a person reports the true outcome',
    play: truthful,
    isInGate: false,
    isEach: true,
  },
  {
    when: 'after',
    what: 'the outcome is unknown',
    play: telling,
    isInGate: true,
    isEach: depth(false, true),
  },
] as const;

test.each(CASES.filter(({ isInGate }) => depth(isInGate, true)))(
  'dying right $when an effect leaves the true outcome, where $what',
  { timeout: 240_000 },
  async ({ when, what, play, isEach }) => {
    const died = await (isEach ? dieEverywhere(play, when) : dieAtEachKind(play, when));
    process.stdout.write(`died right ${when} ${died} effects where ${what}${isEach ? '' : ', one of each kind'}\n`);
    expect(died).toBeGreaterThanOrEqual(isEach ? LEAST : KINDS);
  },
);
