// Branches while worker processes run their context: each job on the history of its own branch, whatever happens on
// others.
import { afterEach, describe, expect, test } from 'vitest';
import { editInput, regenerate } from '../../../src/commands/inputs/regenerate.ts';
import { createBranch, switchBranch } from '../../../src/commands/contexts/change-branches.ts';
import { DEFAULT_TENANT, type ContextId, type MessageId } from '../../../src/core/ids.ts';
import { INTERRUPT_MODES } from '../../../src/core/run/job.ts';
import type { ModelRequest } from '../../../src/core/model/model.ts';
import { readHistory } from '../../../src/db/run/history.ts';
import { postedInput } from '../../db/inputs.ts';
import { aborted, result, says, startFleet, transcript, type Fleet, type FleetOptions } from '../worker-fleet.ts';

let fleet: Fleet | null = null;
const start = async (options: FleetOptions): Promise<Fleet> => (fleet = await startFleet(options));
afterEach(async () => {
  await fleet?.close();
  fleet = null;
});

/** A point of a test that others wait for. */
function gate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: () => resolve() };
}

/** The texts that the model received. */
const prompt = ({ messages }: ModelRequest): string =>
  messages
    .flatMap(({ content }) => content.map((block) => (block.type === 'text' ? block.text : block.type)))
    .join(' ');

const lines = async (of: Fleet, contextId: ContextId, branch: string) =>
  transcript(await readHistory(of.database.db, { contextId, tenantId: DEFAULT_TENANT }, branch));

const branch = (of: Fleet, contextId: ContextId, name: string, fromMessageId: MessageId | null = null) =>
  of.perform(
    createBranch({
      tenantId: DEFAULT_TENANT,
      contextId,
      name,
      fromBranch: null,
      fromMessageId,
      activate: false,
    }),
  );

function revise(contextId: ContextId, messageId: MessageId, name: string) {
  const input = { ...postedInput(), contextId };
  return {
    regenerate: (of: Fleet) =>
      of.perform(regenerate(of.ports, { messageId, name, input: { ...input, content: null } })),
    edit: (of: Fleet, text: string) =>
      of.perform(editInput(of.ports, { messageId, name, input: { ...input, content: [{ type: 'text', text }] } })),
  };
}

describe('jobs of several branches', () => {
  test('run in the order of their queue, each on the history of its own branch', async () => {
    const prompts: string[] = [];
    const first = gate();
    const of = await start({
      model: async (request) => {
        if (prompts.push(prompt(request)) === 2) await first.opened;
        return says(`answer ${prompts.length}`);
      },
    });
    const { contextId } = await of.createContext();
    const { jobId: one } = await of.post(contextId, 'one');
    await of.ended(one);
    await branch(of, contextId, 'x');
    await branch(of, contextId, 'y');
    const posted = [];
    for (const [text, name] of [
      ['two', 'main'],
      ['three', 'x'],
      ['four', 'y'],
      ['five', 'x'],
      ['six', 'main'],
    ] as const) {
      posted.push(await of.post(contextId, text, { branch: name }));
    }
    first.open();
    for (const { jobId } of posted) expect(await of.ended(jobId)).toMatchObject({ status: 'completed' });
    expect(prompts.slice(1)).toEqual([
      'one answer 1 two',
      'one answer 1 three',
      'one answer 1 four',
      'one answer 1 three answer 3 five',
      'one answer 1 two answer 2 six',
    ]);
    expect(await lines(of, contextId, 'x')).toEqual([
      'u1 user: one',
      'a1 assistant: answer 1',
      'u2 user: three',
      'a2 assistant: answer 3',
      'u3 user: five',
      'a3 assistant: answer 5',
    ]);
    await of.until(
      async () => (await of.query(`select 1 from contexts where scheduling_status <> 'idle'`)).length === 0,
    );
    const counted = await of.query(
      `select name, message_count::int, request_count::int, input_tokens > 0 as paid from branches order by name`,
    );
    expect(counted).toEqual([
      { name: 'main', message_count: 6, request_count: 3, paid: true },
      { name: 'x', message_count: 4, request_count: 2, paid: true },
      { name: 'y', message_count: 2, request_count: 1, paid: true },
    ]);
    const [context] = await of.query(`select turn_count::int, message_count::int, active_branch from contexts`);
    expect(context).toEqual({ turn_count: 3, message_count: 12, active_branch: 'main' });
  });

  test('a higher priority on another branch goes first, on the right history', async () => {
    const prompts: string[] = [];
    const paused = gate();
    const begun = gate();
    const of = await start({
      model: async (request) => {
        if (prompts.push(prompt(request)) === 1) {
          begun.open();
          await paused.opened;
        }
        return says('ok');
      },
    });
    const { contextId } = await of.createContext();
    await branch(of, contextId, 'x');
    const jobs = [await of.post(contextId, 'one')];
    await begun.opened;
    jobs.push(await of.post(contextId, 'two'));
    jobs.push(await of.post(contextId, 'first', { branch: 'x', priority: 1 }));
    paused.open();
    for (const { jobId } of jobs) await of.ended(jobId);
    expect(prompts).toEqual(['one', 'first', 'one ok two']);
  });
});

describe('while a job runs', () => {
  test('a past input is edited and an answer retried: both wait for it, and share nothing of it', async () => {
    const called = gate();
    const paused = gate();
    const prompts: string[] = [];
    const of = await start({
      model: async (request) => {
        if (prompts.push(prompt(request)) === 2) {
          called.open();
          await paused.opened;
        }
        return says(`answer ${prompts.length}`);
      },
    });
    const { contextId } = await of.createContext();
    const one = await of.post(contextId, 'one');
    await of.ended(one.jobId);
    const two = await of.post(contextId, 'two');
    await called.opened;
    if (one.messageId === null || two.messageId === null) throw new Error('no input');
    const edited = await revise(contextId, two.messageId, 'edited').edit(of, 'deux');
    const again = await revise(contextId, one.messageId, 'again').regenerate(of);
    paused.open();
    for (const { jobId } of [two, edited, again]) {
      expect(await of.ended(jobId)).toMatchObject({ status: 'completed' });
    }
    expect(prompts).toEqual(['one', 'one answer 1 two', 'one answer 1 deux', 'one']);
    expect(await lines(of, contextId, 'main')).toHaveLength(4);
    expect(await lines(of, contextId, 'again')).toEqual(['u1 user: one', 'a1 assistant: answer 4']);
  });

  test.each(INTERRUPT_MODES)(
    'after a switch to another branch, %s retracts messages of its branch only',
    async (mode) => {
      const calls = { model: 0 };
      const stuck = gate();
      const of = await start({
        model: async (_, signal) => {
          calls.model += 1;
          if (calls.model === 1 || calls.model === 4) return says(`answer ${calls.model}`);
          if (calls.model === 2) return says('', { name: 'look', input: {} });
          stuck.open();
          await aborted(signal);
          return { kind: 'aborted' };
        },
        tools: { look: { execute: () => result('seen') } },
      });
      const { contextId } = await of.createContext();
      await of.ended((await of.post(contextId, 'one')).jobId);
      await branch(of, contextId, 'x');
      const { jobId } = await of.post(contextId, 'two', { branch: 'x' });
      await stuck.opened;
      await branch(of, contextId, 'y');
      await of.perform(switchBranch({ tenantId: DEFAULT_TENANT, contextId }, 'y'));
      expect(await of.interrupt(contextId, mode)).toBe(jobId);
      expect(await of.ended(jobId)).toMatchObject({ status: 'interrupted', branch: 'x' });
      const before = ['u1 user: one', 'a1 assistant: answer 1'];
      expect(await lines(of, contextId, 'main')).toEqual(before);
      expect(await lines(of, contextId, 'y')).toEqual(before);
      const x = (await lines(of, contextId, 'x')).filter((line) => !line.includes('system:'));
      expect(x.slice(0, 2)).toEqual(before);
      expect(x.slice(2).map((line) => line.slice(0, 7))).toEqual(
        { discard: ['u2 user'], rollback: [], keep: ['u2 user', 'a2 assi', 'a2 tool'] }[mode],
      );
      const { jobId: next } = await of.post(contextId, 'three');
      await of.ended(next);
      expect(await lines(of, contextId, 'y')).toEqual([...before, 'u2 user: three', 'a2 assistant: answer 4']);
    },
  );
});
