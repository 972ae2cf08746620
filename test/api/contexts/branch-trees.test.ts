// After any order of posts, retractions, branches, edits, retries, switches, deletions and clears: every branch shows
// the same as a naive copy of it, and no branch shows another's messages.
import { depth } from '../../services/depth.ts';
import { sql } from 'drizzle-orm';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isToolResult, isToolUse } from '../../../src/core/conversation/blocks.ts';
import { assemble } from '../../../src/core/conversation/prompt.ts';
import { DEFAULT_TENANT, type ContextId, type ProcessId, type ToolCallId } from '../../../src/core/ids.ts';
import { readHistory } from '../../../src/db/run/history.ts';
import { addProcess, take } from '../manual-worker.ts';
import { ids, openApi, type Api, type Body } from '../harness.ts';

let api: Api;
let owner: ProcessId;
beforeAll(async () => {
  api = await openApi();
  owner = await addProcess(api);
});
afterAll(() => api.close());

/** The course of a job: whether it calls a tool first, and how it ends. */
type Run = { calls: boolean; end: 'complete' | 'discard' | 'rollback' | 'keep' };

/** `at`: selects the branch, message or name among those that exist. */
type Operation =
  | { kind: 'post' | 'edit' | 'regenerate'; at: number; of: number; run: Run; meanwhile: Aside | null }
  | Aside
  | { kind: 'clear' };

/** Operations that run no job, and may come while one runs. */
type Aside = { kind: 'branch' | 'switch' | 'delete' | 'fork'; at: number; of: number };

const place = { at: fc.nat(20), of: fc.nat(20) };
const someAside = fc.record({
  kind: fc.constantFrom('branch' as const, 'branch' as const, 'switch' as const, 'delete' as const, 'fork' as const),
  ...place,
});
const someOperation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom('post' as const, 'post' as const, 'edit' as const, 'regenerate' as const),
      ...place,
      run: fc.record({
        calls: fc.boolean(),
        end: fc.constantFrom(
          'complete' as const,
          'complete' as const,
          'discard' as const,
          'rollback' as const,
          'keep' as const,
        ),
      }),
      meanwhile: fc.option(someAside),
    }),
  },
  { weight: 4, arbitrary: someAside },
  { weight: 1, arbitrary: fc.constant({ kind: 'clear' as const }) },
);

/** One message of the naive copy: shared messages are the same object. */
type CopiedMessage = { id: string; role: string; turn: string; unfinished: boolean };

class Copy {
  readonly branches = new Map<string, CopiedMessage[]>([['main', []]]);
  active = 'main';

  pick(at: number): { name: string; line: CopiedMessage[] } {
    const all = [...this.branches];
    const [name, line] = all[at % all.length] ?? ['main', []];
    return { name, line };
  }
}

const lastTurn = (line: readonly CopiedMessage[]): number =>
  Math.max(0, ...line.map(({ turn }) => Number(turn.slice(1))));

class Walk {
  readonly copy = new Copy();
  readonly id: string;
  #names = 0;
  constructor(id: string) {
    this.id = id;
  }

  url(rest = ''): string {
    return `/api/contexts/${this.id}${rest}`;
  }

  async shown(branch: string): Promise<Body[]> {
    const { body } = await api.get(this.url(`/messages?branch=${branch}&limit=200`));
    return body.data.filter(({ role, status }: Body) => role !== 'system' && status === 'completed');
  }

  async take(operation: Operation): Promise<void> {
    switch (operation.kind) {
      case 'post': {
        const { name } = this.copy.pick(operation.at);
        const { status } = await api.post(this.url('/messages'), { content: 'input', branch: name });
        expect(status).toBe(202);
        return this.run(name, true, operation.run, operation.meanwhile);
      }
      case 'edit':
      case 'regenerate':
        return this.revise(operation);
      case 'clear': {
        expect((await api.post(this.url('/clear'))).status).toBe(200);
        this.copy.branches.clear();
        this.copy.branches.set('main', []);
        this.copy.active = 'main';
        return;
      }
      case 'branch':
      case 'switch':
      case 'delete':
      case 'fork':
        return this.aside(operation);
    }
  }

  async revise({ kind, at, of, run, meanwhile }: Extract<Operation, { kind: 'edit' | 'regenerate' | 'post' }>) {
    const { line } = this.copy.pick(at);
    const such = line.filter(({ role }) => kind === 'regenerate' || role === 'user');
    const message = such[of % Math.max(1, such.length)];
    if (message === undefined) return;
    const body = kind === 'edit' ? { content: 'input' } : {};
    const answer = await api.post(this.url(`/messages/${message.id}/${kind}`), body);
    expect(answer.status).toBe(202);
    const index = line.indexOf(message);
    const input = line.slice(0, index + 1).findLastIndex(({ role }) => role === 'user');
    const prefix = line.slice(0, kind === 'edit' ? index : input + 1);
    this.copy.branches.set(answer.body.branch, prefix);
    this.copy.active = answer.body.branch;
    await this.run(answer.body.branch, kind === 'edit', run, meanwhile);
  }

  /**
   * A worker process runs the next job; its messages are read on the branch where they were added, and nowhere else.
   */
  async run(name: string, bringsInput: boolean, { calls, end }: Run, meanwhile: Aside | null): Promise<void> {
    const line = this.copy.branches.get(name) ?? [];
    const before = line.length;
    const turn = bringsInput ? lastTurn(line) + 1 : Math.max(1, lastTurn(line));
    const manual = await take(api, this.id as ContextId, owner);
    await manual.admit();
    if (bringsInput) await this.readNew(name, 'user', `u${turn}`);
    if (calls) {
      const call = { type: 'tool_use', id: ids.next<ToolCallId>(), name: 'look', input: {} } as const;
      await manual.answer([call]);
      await this.readNew(name, 'assistant', `a${turn}`);
    }
    if (meanwhile !== null) await this.aside(meanwhile);
    if (calls) {
      await manual.results('seen');
      await this.readNew(name, 'tool', `a${turn}`);
    }
    if (end === 'complete') {
      await manual.complete('answer');
      await this.readNew(name, 'assistant', `a${turn}`);
    } else {
      await manual.releaseUntil(null);
      expect((await api.post(this.url('/interrupt'), { mode: end })).body.status).toBe('interrupted');
      if (end !== 'keep') {
        const inputs = end === 'discard' && bringsInput ? 1 : 0;
        line.splice(before + inputs);
      }
    }
    for (const message of line) message.unfinished = false;
  }

  async readNew(name: string, role: string, turn: string): Promise<void> {
    const last = (await this.shown(name)).at(-1);
    expect([name, last.role, last.turn]).toEqual([name, role, turn]);
    this.copy.branches.get(name)?.push({ id: last.id, role, turn, unfinished: true });
  }

  async aside({ kind, at, of }: Aside): Promise<void> {
    const { name, line } = this.copy.pick(at);
    const message = line[of % Math.max(1, line.length)];
    const isUnfinished = message?.unfinished === true;
    switch (kind) {
      case 'branch': {
        this.#names += 1;
        const given = `b${this.#names % 4}`;
        const from = of % 3 === 0 || message === undefined ? {} : { from_message_id: message.id };
        const { status } = await api.post(this.url('/branches'), { name: given, from_branch: name, ...from });
        const isTaken = this.copy.branches.has(given);
        expect(status).toBe('from_message_id' in from && isUnfinished ? 409 : isTaken ? 409 : 201);
        if (status !== 201) return;
        const complete = line.filter(({ unfinished }) => !unfinished);
        this.copy.branches.set(given, 'from_message_id' in from ? upto(line, message) : complete);
        return;
      }
      case 'switch': {
        expect((await api.call('PUT', this.url(`/branches/${name}`))).status).toBe(200);
        this.copy.active = name;
        return;
      }
      case 'delete': {
        const isBusy = line.some(({ unfinished }) => unfinished);
        const { status } = await api.call('DELETE', this.url(`/branches/${name}`));
        if (name === 'main' || name === this.copy.active || isBusy) expect(status).toBe(409);
        if (status === 204) this.copy.branches.delete(name);
        return;
      }
      case 'fork': {
        const from = message === undefined ? {} : { from_message_id: message.id };
        const { status, body } = await api.post(this.url('/fork'), from);
        expect(status).toBe(isUnfinished ? 409 : 201);
        if (status !== 201) return;
        const { body: copied } = await api.get(`/api/contexts/${body.id}/messages?limit=200`);
        const shape = copied.data
          .filter(({ role }: Body) => role !== 'system')
          .map(({ role, turn }: Body) => `${role} ${turn}`);
        const source = message === undefined ? (this.copy.branches.get(this.copy.active) ?? []) : line;
        expect(shape).toEqual(upto(source, message).map(({ role, turn }) => `${role} ${turn}`));
      }
    }
  }

  /** Every branch shows its copy, in a history that every provider accepts, with turns that skip none. */
  async check(): Promise<void> {
    const { body } = await api.get(this.url('/branches?limit=200'));
    const rows = new Map<string, Body>(body.data.map((row: Body) => [row.name, row]));
    expect([...rows.keys()].toSorted()).toEqual([...this.copy.branches.keys()].toSorted());
    for (const [name, line] of this.copy.branches) {
      const shown = await this.shown(name);
      expect(shown.map(({ id, turn }) => [id, turn])).toEqual(line.map(({ id, turn }) => [id, turn]));
      const inputs = shown.filter(({ role }) => role === 'user').map(({ turn }) => turn);
      expect(inputs).toEqual(inputs.map((_, index) => `u${index + 1}`));
      const place = { contextId: this.id as ContextId, tenantId: DEFAULT_TENANT };
      const history = await readHistory(api.database.db, place, name);
      expect(rows.get(name)).toMatchObject({ length: history.length, active: name === this.copy.active });
      for (const { role, content } of assemble(history)) {
        if (role === 'assistant') expect(content.some(isToolResult)).toBe(false);
        else expect(content.some(isToolUse)).toBe(false);
      }
    }
    const wrong = await api.database.db.execute(sql`
      select b.name, b.message_count, b.request_count, b.input_tokens, m.* from branches b cross join lateral (
        select count(*) filter (where m.status = 'completed') as messages,
          count(*) filter (where m.role = 'assistant') as requests, coalesce(sum(m.input_tokens), 0) as tokens
        from messages m where m.context_id = b.context_id and m.branch = b.name and m.seq is not null
          and m.seq > coalesce((b.spans -> -1 ->> 'after')::bigint, 0)) m
      where b.context_id = ${this.id}
        and (b.message_count, b.request_count, b.input_tokens) is distinct from (m.messages, m.requests, m.tokens)`);
    expect([...wrong]).toEqual([]);
    const { body: context } = await api.get(this.url());
    const active = this.copy.branches.get(this.copy.active) ?? [];
    expect(context).toMatchObject({ active_branch: this.copy.active, turn_count: lastTurn(active) });
  }
}

/** Up to a message, and the results of its calls. */
function upto(line: readonly CopiedMessage[], message: CopiedMessage | undefined): CopiedMessage[] {
  if (message === undefined) return line.filter(({ unfinished }) => !unfinished);
  const index = line.indexOf(message);
  const next = line.findIndex(({ role }, at) => at > index && role !== 'tool');
  return line.slice(0, next === -1 ? undefined : next).filter(({ unfinished }) => !unfinished);
}

test('every branch shows its own messages', { timeout: 240_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(someOperation, { minLength: 4, maxLength: 14 }), async (operations) => {
      const { context_id: id } = await api.worker();
      const walk = new Walk(id);
      for (const operation of operations) {
        await walk.take(operation);
        await walk.check();
      }
    }),
    { numRuns: Number(process.env['NIGHTSHIFT_TREES'] ?? depth(10, 50)) },
  );
});
