// The effect of a compaction on a prompt: shorter, valid for every provider, and complete where it has to be.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  NOTHING_COMPACTED,
  withCompaction,
  type Compacted,
  type NewCompaction,
} from '../../src/core/compaction/compacted.ts';
import { turnBegins } from '../../src/core/compaction/cuts.ts';
import { planCompaction, tokensAfter, type CompactionPlan, type Occasion } from '../../src/core/compaction/plan.ts';
import { COMPACTION_DEFAULTS } from '../../src/core/compaction/settings.ts';
import { shortened } from '../../src/core/compaction/shorten.ts';
import { promptTokens } from '../../src/core/compaction/sizes.ts';
import { summaryPrompt, summaryText } from '../../src/core/compaction/summary.ts';
import type { Block, ToolResultBlock } from '../../src/core/conversation/blocks.ts';
import type { ToolCallId } from '../../src/core/ids.ts';
import type { Message } from '../../src/core/conversation/message.ts';
import { assemble, type PromptMessage } from '../../src/core/conversation/prompt.ts';
import type { Settings } from '../../src/core/workers/settings.ts';
import { answerTurn, inputTurn } from '../../src/core/conversation/turn.ts';
import { NO_USAGE } from '../../src/core/money/usage.ts';
import { decide } from '../../src/core/decide.ts';
import {
  JOB,
  NOW,
  assistantMessage,
  id,
  job,
  running,
  settings,
  text,
  toolMessage,
  toolUse,
  userMessage,
} from './builders.ts';

/** A turn: the input, how often tools were called and how long each answered, and the answer. */
type Turn = { inputLength: number; rounds: number[][]; answerLength: number };

const words = (length: number, what = 'w') => what.repeat(length);

/** Sound histories: calls in rounds, each with its results, notes of the platform in between. */
function historyOf(turns: readonly Turn[]): Message[] {
  const messages: Message[] = [];
  let seq = 0;
  let calls = 0;
  const next = () => (seq += 2);
  for (const [index, { inputLength, rounds, answerLength }] of turns.entries()) {
    const number = index + 1;
    const turn = answerTurn(number);
    messages.push(userMessage(next(), { turn: inputTurn(number), content: [text(words(inputLength + 1, 'u'))] }));
    if (inputLength % 3 === 0) messages.push(userMessage(next(), { role: 'system', turn, content: [text('note')] }));
    for (const round of rounds) {
      const uses = round.map(() => toolUse((calls += 1)));
      messages.push(assistantMessage(next(), { turn, content: [text('let me see'), ...uses] }));
      for (const [place, use] of uses.entries()) {
        const content = words(round[place] ?? 0, 'r');
        messages.push(
          toolMessage(next(), use.id, {
            turn,
            content: [{ type: 'tool_result', tool_use_id: use.id, content, is_error: false }],
          }),
        );
      }
    }
    if (answerLength > 0) messages.push(assistantMessage(next(), { turn, content: [text(words(answerLength, 'a'))] }));
  }
  return messages;
}

const someTurn: fc.Arbitrary<Turn> = fc.record({
  inputLength: fc.nat(800),
  rounds: fc.array(fc.array(fc.nat(2_000), { minLength: 1, maxLength: 2 }), { maxLength: 4 }),
  answerLength: fc.nat(500),
});
const someHistory = fc.array(someTurn, { minLength: 1, maxLength: 8 }).map(historyOf);

const someSettings: fc.Arbitrary<Settings> = fc
  .record({
    type: fc.constantFrom('threshold' as const, 'llm' as const),
    threshold: fc.constantFrom(0.3, 0.8, 1),
    keepTurns: fc.nat(6),
    contextLimit: fc.constantFrom(1_000, 2_000, 5_000),
    systemPrompt: fc.constantFrom('', words(2_000)),
  })
  .map(({ type, threshold, keepTurns, contextLimit, systemPrompt }) =>
    settings({
      contextLimit,
      systemPrompt,
      compaction: { ...COMPACTION_DEFAULTS, type, threshold, keepTurns },
    }),
  );

const someOccasion = fc.constantFrom<Occasion>('due', 'refused', 'asked', 'rest');

function made(history: readonly Message[], plan: CompactionPlan, of: Settings): NewCompaction {
  const summary = plan.type === 'llm' ? summaryText(history, plan, words(40_000, 's'), of.contextLimit) : null;
  return {
    id: id(7_000),
    type: plan.type,
    branch: 'main',
    uptoSeq: plan.uptoSeq,
    summary,
    model: summary === null ? null : 'simulated/m',
    tokensBefore: plan.tokensBefore,
    tokensAfter: tokensAfter(plan, summary ?? ''),
    jobId: JOB,
    usage: null,
  };
}

type Compacting = {
  history: Message[];
  of: Settings;
  plan: CompactionPlan;
  stored: NewCompaction;
  compacted: Compacted;
};

/** For every history worth a compaction, with all earlier compactions. */
function assertForAll(check: (compacting: Compacting) => void, runs = 200): void {
  let compactions = 0;
  fc.assert(
    fc.property(someHistory, someSettings, someOccasion, (history, of, occasion) => {
      let compacted = NOTHING_COMPACTED;
      const before = structuredClone(history);
      // Repeated until nothing is left to compact: it must terminate.
      for (let round = 0; ; round += 1) {
        expect(round).toBeLessThan(60);
        const plan = planCompaction({ history, compacted }, of, occasion);
        if (plan === null) break;
        const stored = made(history, plan, of);
        compacted = withCompaction(compacted, stored, 100_000 + round);
        compactions += 1;
        check({ history, of, plan, stored, compacted });
        if (occasion !== 'due') break;
      }
      expect(history).toEqual(before);
    }),
    { numRuns: runs },
  );
  expect(compactions).toBeGreaterThan(runs / 10);
}

/** A note of the platform is marked in the prompt. */
const answerLength = (block: Block) => JSON.stringify(block).replaceAll(/<\/?system-note>/g, '');

const idsOf = (prompt: readonly PromptMessage[], kind: 'tool_use' | 'tool_result') =>
  prompt.flatMap(({ content }) =>
    [...content].flatMap((block: Block) => {
      if (kind === 'tool_use') return block.type === 'tool_use' ? [block.id] : [];
      return block.type === 'tool_result' ? [block.tool_use_id] : [];
    }),
  );

describe('for any history', () => {
  test('the prompt is valid: roles alternate, every call is answered at once, and no call is cut from its result', () => {
    assertForAll(({ history, compacted }) => {
      const prompt = assemble(history, compacted);
      prompt.forEach(({ role, content }, index) => {
        expect(role).toBe(index % 2 === 0 ? 'user' : 'assistant');
        expect(content.length).toBeGreaterThan(0);
      });
      prompt.forEach(({ role, content }, index) => {
        if (role !== 'assistant') return;
        const inputLength = content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
        const answers: readonly Block[] = (prompt[index + 1]?.content ?? []).slice(0, inputLength.length);
        expect(answers.map((block) => (block.type === 'tool_result' ? block.tool_use_id : ''))).toEqual(inputLength);
      });
      expect(idsOf(prompt, 'tool_result')).toEqual(idsOf(prompt, 'tool_use'));
      expect(JSON.stringify(prompt)).not.toContain('No result was recorded');
    });
  });

  test('it gets shorter, by the estimate and by its characters', () => {
    assertForAll(({ history, of, stored, compacted }) => {
      expect(stored.tokensAfter).toBeLessThan(stored.tokensBefore);
      expect(promptTokens({ history, compacted }, of)).toBe(stored.tokensAfter);
      const length = (prompt: unknown) => JSON.stringify(prompt).length;
      if (stored.type === 'threshold')
        expect(length(assemble(history, compacted))).toBeLessThan(length(assemble(history)) + 1);
    });
  });

  test('everything behind the cut is complete', () => {
    assertForAll(({ history, plan, compacted }) => {
      const kept = history.slice(plan.cut);
      const shown = new Set(assemble(history, compacted).flatMap(({ content }) => content.map(answerLength)));
      expect(kept.flatMap(({ content }) => content.map(answerLength)).filter((one) => !shown.has(one))).toEqual([]);
      expect(kept.some(({ role }) => role !== 'system')).toBe(true);
    });
  });

  test('a summary replaces all that is before the cut, and nothing behind it', () => {
    assertForAll(({ history, plan, stored, compacted }) => {
      if (stored.type !== 'llm') return;
      const prompt = assemble(history, compacted);
      const first = prompt[0]?.content[0];
      expect(first?.type === 'text' && first.text.includes(stored.summary ?? '-')).toBe(true);
      const left = history.filter(({ seq }) => seq > stored.uptoSeq);
      expect(left.filter(({ role }) => role !== 'system')).toEqual(
        history.slice(plan.cut).filter(({ role }) => role !== 'system'),
      );
      expect(prompt.slice(1)).toEqual(assemble(left, NOTHING_COMPACTED).slice(1));
    });
  });

  test('the text shown to the summarising model fits its limit', () => {
    assertForAll(({ history, plan, of, compacted }) => {
      if (plan.type !== 'llm') return;
      const shown = summaryPrompt(history.slice(plan.from, plan.cut), null, plan.longest);
      expect(JSON.stringify(shown).length / 4).toBeLessThan(Math.max(of.contextLimit, 1_000) * 1.2);
      expect(compacted.summary).not.toBeNull();
    });
  });
});

describe('a compaction is made', () => {
  const turn: Turn = { inputLength: 100, rounds: [[8_000]], answerLength: 100 };
  const long = historyOf([turn, turn, turn, turn, turn, turn, turn, turn]);
  const of = (over: Partial<Settings['compaction']> = {}, contextLimit = 20_000) =>
    settings({ contextLimit, compaction: { ...COMPACTION_DEFAULTS, ...over } });
  const memory = { history: long, compacted: NOTHING_COMPACTED };

  test('not before the threshold', () => {
    const tokens = promptTokens(memory, of());
    expect(planCompaction(memory, of({}, tokens * 1.3), 'due')).toBeNull();
    expect(planCompaction(memory, of({}, tokens * 1.2), 'due')).not.toBeNull();
  });

  test('earlier, if the job has an output schema', () => {
    const limit = promptTokens(memory, of()) * 1.3;
    const outputSchema = { type: 'object', description: words(Math.round(limit)) };
    const kindFor = (schema: typeof outputSchema | null): string => {
      const serving = { kind: 'served' as const, settings: of({}, limit) };
      const history = [...long, userMessage(9_999)];
      return decide(running({ history, serving, job: job({ outputSchema: schema }) }), NOW).kind;
    };
    expect([kindFor(null), kindFor(outputSchema)]).toEqual(['call_model', 'compact']);
  });

  test('never where it is switched off, even where the provider refuses the prompt', () => {
    for (const occasion of ['due', 'refused'] as const)
      expect(planCompaction(memory, of({ type: 'none' }, 1_000), occasion)).toBeNull();
  });

  test('with the configured last turns kept; fewer where they alone are too long', () => {
    const turnsKept = (contextLimit: number) => {
      const plan = planCompaction(memory, of({}, contextLimit), 'due');
      return plan === null ? null : turnBegins(long.slice(plan.cut)).length;
    };
    expect(turnsKept(18_000)).toBe(4);
    expect(turnsKept(9_000)).toBe(2);
    expect(turnsKept(4_000)).toBe(1);
  });

  test('after a refused prompt, whatever the assumed limit', () => {
    expect(planCompaction(memory, of({}, 10_000_000), 'refused')).not.toBeNull();
  });

  test('on request with the requested turns kept, and not at all where no more turns exist', () => {
    const plan = planCompaction(memory, of({ keepTurns: 3 }, 10_000_000), 'asked');
    expect(turnBegins(long.slice(plan?.cut ?? 0))).toHaveLength(3);
    expect(planCompaction(memory, of({ keepTurns: 8 }, 10_000_000), 'asked')).toBeNull();
    expect(planCompaction({ history: [], compacted: NOTHING_COMPACTED }, of(), 'asked')).toBeNull();
  });

  test('within one long turn between its answers, and the summary then quotes the request verbatim', () => {
    const one = historyOf([{ inputLength: 40, rounds: Array.from({ length: 30 }, () => [4_000]), answerLength: 0 }]);
    const plan = planCompaction({ history: one, compacted: NOTHING_COMPACTED }, of({ type: 'llm' }), 'due');
    if (plan === null) throw new Error('nothing to compact');
    expect(one[plan.cut]?.role).toBe('assistant');
    expect(summaryText(one, plan, 'so far', 20_000)).toBe(
      `so far\n\nThe current request, verbatim:\n${words(41, 'u')}`,
    );
  });

  test('not where the existing compactions already cover everything', () => {
    const inputLength = of({ type: 'threshold', keepTurns: 2 }, 10_000_000);
    const plan = planCompaction(memory, inputLength, 'asked');
    if (plan === null) throw new Error('nothing to compact');
    const compacted = withCompaction(NOTHING_COMPACTED, made(long, plan, inputLength), 9_000);
    expect(planCompaction({ history: long, compacted }, inputLength, 'asked')).toBeNull();
  });
});

describe('the estimate', () => {
  const spoken = (seq: number, input: number, output: number) =>
    assistantMessage(seq, {
      model: {
        modelId: 'm',
        providerId: 'p',
        finishReason: 'stop',
        usage: { ...NO_USAGE, input_tokens: input, output_tokens: output, cache_read_tokens: 50 },
      },
    });
  const frame = settings();

  test("is the provider's count of the last answer, and a quarter of the characters since", () => {
    const history = [userMessage(2), spoken(3, 1_000, 20), userMessage(4, { content: [text(words(400))] })];
    expect(promptTokens({ history, compacted: NOTHING_COMPACTED }, frame)).toBe(1_000 + 50 + 20 + 100 + 4);
  });

  test('is a quarter of all characters where no provider reported a count', () => {
    const history = [userMessage(2, { content: [text(words(4_000))] })];
    const tokens = promptTokens({ history, compacted: NOTHING_COMPACTED }, frame);
    expect(tokens).toBeGreaterThanOrEqual(1_000);
    expect(tokens).toBeLessThan(1_020);
  });

  test('includes the schema of the output', () => {
    const memory = { history: [userMessage(2)], compacted: NOTHING_COMPACTED };
    const outputSchema = { type: 'object', description: words(4_000) };
    const without = promptTokens(memory, frame);
    expect(promptTokens(memory, { ...frame, outputSchema }) - without).toBeGreaterThanOrEqual(1_000);
  });

  test('ignores what a provider counted before the last compaction', () => {
    const history = [userMessage(2), spoken(3, 90_000, 20), userMessage(9, { content: [text(words(400))] })];
    const shortening = { id: id<never>(1), seq: 5, uptoSeq: 3, jobId: JOB, tokensAfter: 700 };
    expect(promptTokens({ history, compacted: { summary: null, shortening } }, frame)).toBe(700 + 104);
  });
});

describe('an old result', () => {
  const result = (over: Partial<ToolResultBlock>): ToolResultBlock => ({
    type: 'tool_result',
    tool_use_id: id<ToolCallId>(1),
    content: words(5_000),
    is_error: false,
    ...over,
  });

  test('is replaced by the summary that its tool gave', () => {
    expect(shortened(result({ compact_summary: '12 rows' })).content).toBe('12 rows');
  });

  test('is replaced by its beginning where there is no summary, with the number of omitted characters', () => {
    expect(shortened(result({})).content).toMatch(/^w{200}… \(An old result, shortened: 4800 more characters left out/);
    const image = { type: 'image' as const, source: { type: 'url' as const, url: 'u' } };
    expect(shortened(result({ content: [text('a'), image] as ToolResultBlock['content'] })).content).toMatch(
      /^a… \(.*1 image left out/,
    );
  });

  test('stays where nothing shorter can replace it', () => {
    for (const short of [result({ content: 'ok' }), result({ content: 'ok', compact_summary: 'it went well' })])
      expect(shortened(short)).toEqual(short);
  });
});
