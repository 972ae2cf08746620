/** The ports of a replay: the model, tools, people and workers say again what they said in the recording. */
import type { Team } from '../../agent/calls/team.ts';
import { deniedWith, expiredWait, FORBIDDEN, NEVER_RAN as NO_RUN } from '../../core/conversation/closing-texts.ts';
import { isToolUse, type ToolResultBlock } from '../../core/conversation/blocks.ts';
import type { ToolCallId } from '../../core/ids.ts';
import type { FinishReason, Model } from '../../core/model/model.ts';
import type { Snapshot } from '../../core/run/snapshot.ts';
import { NO_USAGE } from '../../core/money/usage.ts';
import type { Reply } from '../../core/tools/tool-call.ts';
import type { ToolOutcome, ToolRunner } from '../../core/tools/tool.ts';
import type { Registry } from '../../tools/registry/registry.ts';
import type { People } from '../memory/people.ts';
import type { RecordedAnswer } from './recording.ts';

export type RecordedResults = ReadonlyMap<string, ToolResultBlock>;

/** Gives the answers in order. When they are used up, the call fails: the job of the recording ended here too. */
export function recordedModel(answers: RecordedAnswer[]): Model {
  return {
    isLoaded: () => true,
    async call({ model }, listener) {
      const answer = answers.shift();
      if (answer === undefined) {
        const message = 'The recording has no further answer here.';
        return { kind: 'failed', failure: { class: 'bad_request', message, retryAfterMs: null } };
      }
      listener.started();
      const { content } = answer;
      const finishReason = finishReasonOf(answer);
      return {
        kind: 'done',
        answer: {
          content: structuredClone(content),
          finishReason,
          usage: NO_USAGE,
          modelId: model.model,
          responseId: null,
        },
      };
    },
  };
}

const FINISH_REASONS = ['stop', 'tool_use', 'max_tokens', 'pause', 'refusal'] as const;

function finishReasonOf({ content, finishReason }: RecordedAnswer): FinishReason {
  const known = FINISH_REASONS.find((one) => one === finishReason);
  return known ?? (content.some(isToolUse) ? 'tool_use' : 'stop');
}

/**
 * Gives recorded results back, except for the tools in `run` and for an input that the tool now refuses. The rules and
 * the approval of the tools apply as they are now.
 */
export function recordedTools(
  runner: ToolRunner,
  registry: Registry,
  results: RecordedResults,
  run: ReadonlySet<string>,
): ToolRunner {
  return {
    ...runner,
    async execute(call, signal, report) {
      const tool = registry.get(call.name, call);
      const isAccepted = tool === undefined || (await tool.validate(structuredClone(call.input))).ok;
      if (run.has(call.name) || !isAccepted) return runner.execute(call, signal, report);
      return resultOf(results, call.id);
    },
    // So that no timeout approves a call: what no person approved does not run.
    mayAsk: () => true,
    reconcile: async () => ({ kind: 'unknown' }),
  };
}

function resultOf(results: RecordedResults, id: ToolCallId): Extract<ToolOutcome, { kind: 'result' }> {
  const found = results.get(id);
  if (found === undefined)
    return { kind: 'result', content: 'The recording has no result of this call.', is_error: true };
  const { content, is_error, compact_summary } = found;
  return { kind: 'result', content, is_error, ...(compact_summary !== undefined && { compact_summary }) };
}

const EXPIRED = expiredWait('once', 'approval').text;
const DENIED = deniedWith(null).text;
const DENIED_BECAUSE = deniedWith('').text;

const NEVER_RAN: readonly string[] = [NO_RUN.text, FORBIDDEN.text];

/**
 * Rejects what was rejected, and approves what has a result. A call that expired, or that has no result yet, gets no
 * decision; neither does one of a tool in `run` that did not run, since no person approved it.
 */
export function recordedPeople(results: RecordedResults, run: ReadonlySet<string>): People {
  return {
    async decide({ id, tool }) {
      const result = results.get(id);
      if (result === undefined) return null;
      const text = typeof result.content === 'string' ? result.content : '';
      if (text === EXPIRED || (run.has(tool) && NEVER_RAN.includes(text))) return null;
      const reason = text.startsWith(DENIED_BECAUSE) ? text.slice(DENIED_BECAUSE.length) : null;
      const decision = text === DENIED || reason !== null ? 'deny' : 'approve';
      return { decision, reason, input: null };
    },
    answer: async ({ id }) => replyOf(results, id),
    // The time that it slept was measured, and differs by tenths of a second from one run to the next.
    wake: async ({ id, tool }) => (run.has(tool) ? null : replyOf(results, id)),
  };
}

function replyOf(results: RecordedResults, id: string): Reply | null {
  const result = results.get(id);
  return result === undefined ? null : { content: result.content, isError: result.is_error };
}

/** Calls without a recorded result still waited when the recording was made: the replay ends here too. */
export function isWithoutResult({ calls }: Snapshot, results: RecordedResults): boolean {
  return calls.length > 0 && calls.every(({ id, wait }) => wait !== null && !results.has(id));
}

/** Other workers do not run: what they answered is given back, in the order in which they did. */
export function recordedTeam(results: RecordedResults): Team {
  const order = [...results.keys()];
  return {
    arrange: async (_snapshot, _job, _settings, asking) =>
      asking
        .toSorted((one, other) => order.indexOf(one.call.id) - order.indexOf(other.call.id))
        .map(({ call }) => ({ kind: 'answered', call, result: resultOf(results, call.id) })),
    recount: async () => false,
    outcomes: async () => new Map(),
  };
}
