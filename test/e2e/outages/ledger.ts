// A client that keeps posting, whatever happens to the platform, and records its answers: accepted inputs (202) and
// inputs in doubt (503, or a broken connection). In the end every accepted input was answered exactly once, and every
// input in doubt at most once.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { ContextId } from '../../../src/core/ids.ts';
import { HttpFailure, type Client } from '../rig/client.ts';
import { expectSound, history, transcript } from '../rig/stored.ts';
import type { TestEnvironment } from '../rig/environment.ts';

const CONFIG = { model: 'simulated/default', tools: ['look', 'put', 'mail', 'pay'] };
/** Between two inputs of one context, in milliseconds: a load, not a flood. */
const PACE_MS = 250;

export type Ledger = {
  contexts: ContextId[];
  /** Inputs that were accepted, and those with an unknown outcome, by context. */
  accepted: Map<string, ContextId>;
  doubtful: Map<string, ContextId>;
  /** How often each status was returned; 0: no answer. */
  answers: Map<number, number>;
  /** Resolves once so many more were accepted. */
  more(count: number): Promise<void>;
  /** Ends the posting: everything that has begun is finished. */
  stop(): Promise<void>;
  /** Ends the posting: inputs that were not accepted by now stay in doubt. */
  abandon(): Promise<void>;
};

/** Where it posts, and the database behind it. */
export type Posting = { environment: TestEnvironment; client: Client };

export type LedgerOptions = {
  contexts: number;
  /** The script of each input, before the last answer. */
  script: string;
};

/** The last answer to an input. */
const word = (tag: string): string => `answered ${tag}`;

/** Its contexts are made directly in the database, since the API may be set to give up early. */
export async function startLedger(platform: Posting, options: LedgerOptions): Promise<Ledger> {
  const { environment, client } = platform;
  const contexts = await Promise.all(Array.from({ length: options.contexts }, () => environment.createContext(CONFIG)));
  const stopping = { over: false, abandoned: false };
  let count = 0;
  let waiting: { until: number; resolve: () => void }[] = [];
  const ledger: Ledger = {
    contexts,
    accepted: new Map(),
    doubtful: new Map(),
    answers: new Map(),
    more: (wanted) => new Promise((resolve) => waiting.push({ until: ledger.accepted.size + wanted, resolve })),
    async stop() {
      stopping.over = true;
      await posting;
    },
    async abandon() {
      stopping.abandoned = true;
      await ledger.stop();
    },
  };
  const attempt = async (contextId: ContextId, tag: string, key?: string): Promise<boolean> => {
    const status = await client
      .post(contextId, `${options.script}\n---\nsay: ${word(tag)}`, key)
      .then(() => 202)
      .catch((error: unknown) => (error instanceof HttpFailure ? error.status : 0));
    ledger.answers.set(status, (ledger.answers.get(status) ?? 0) + 1);
    return status === 202;
  };
  const accept = (contextId: ContextId, tag: string): void => {
    ledger.doubtful.delete(tag);
    ledger.accepted.set(tag, contextId);
    const met = waiting.filter(({ until }) => until <= ledger.accepted.size);
    waiting = waiting.filter((one) => !met.includes(one));
    for (const { resolve } of met) resolve();
  };
  /** Every other input has a key, and is posted under it until it is accepted: even after the end of the posting. */
  const post = async (contextId: ContextId): Promise<void> => {
    count += 1;
    const tag = `input-${count}`;
    const key = count % 2 === 0 ? `${contextId}-${tag}` : undefined;
    ledger.doubtful.set(tag, contextId);
    for (;;) {
      if (await attempt(contextId, tag, key)) return accept(contextId, tag);
      await sleep(PACE_MS);
      if (key === undefined || stopping.abandoned) return;
    }
  };
  const posting = Promise.all(
    contexts.map(async (contextId) => {
      while (!stopping.over) {
        await post(contextId);
        await sleep(PACE_MS);
      }
    }),
  );
  return ledger;
}

/** Every accepted input has its one answer, in order; the rest is in doubt. Returns unknown outcomes. */
export async function expectBalanced(
  environment: TestEnvironment,
  ledger: Ledger,
  calls: readonly string[],
): Promise<number> {
  let unknown = 0;
  for (const contextId of ledger.contexts) {
    await expectSound(environment.ports.database.db, contextId);
    const lines = transcript(await history(environment.ports.database.db, contextId));
    const tags = lines.flatMap((line) => /^u\d+ user: [^]*answered (input-\d+)$/.exec(line)?.[1] ?? []);
    const of = (known: Map<string, ContextId>): string[] =>
      [...known].filter(([, context]) => context === contextId).map(([tag]) => tag);
    expect(tags.filter((tag) => ledger.accepted.has(tag)).sort()).toEqual(of(ledger.accepted).sort());
    const others = tags.filter((tag) => !ledger.accepted.has(tag));
    expect(others.filter((tag) => !ledger.doubtful.has(tag))).toEqual([]);
    expect([...new Set(others)]).toEqual(others);
    expect(lines.filter((line) => !/^u\d+ user: /.test(line)).map(plain)).toEqual(
      tags.flatMap((tag, at) => answerOf(tag, at + 1, calls)),
    );
    unknown += lines.filter((line) => line.endsWith('unknown')).length;
  }
  const jobs = await environment.query('select distinct status from jobs');
  expect(jobs).toEqual([{ status: 'completed' }]);
  return unknown;
}

/** A `once` call's result, whether known or not. */
function plain(line: string): string {
  return line.replace(/ ← unknown$/, ' ← done').replace(/ ← \w+: done$/, ' ← done');
}

function answerOf(tag: string, turn: number, calls: readonly string[]): string[] {
  return [
    `a${turn} assistant: ${calls.map((name) => `→${name}`).join(' ')}`,
    ...calls.map((name) => `a${turn} tool: ${name} ← done`),
    `a${turn} assistant: ${word(tag)}`,
  ];
}
