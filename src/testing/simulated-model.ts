/** A model whose answers a test gives, one for each call. It keeps the prompts that it gets. */
import type { Block } from '../core/conversation/blocks.ts';
import type { PromptMessage } from '../core/conversation/prompt.ts';
import type { Ids, ToolCallId } from '../core/ids.ts';
import type { Json, JsonObject } from '../core/json.ts';
import {
  formatModelName,
  type FailureClass,
  type FinishReason,
  type Model,
  type ModelOutcome,
  type ModelRequest,
  type ToolSpec,
} from '../core/model/model.ts';
import { NO_USAGE } from '../core/money/usage.ts';

/** A tool call that the model makes. */
export type SimulatedCall = {
  /** The name of the tool. */
  tool: string;
  /** Normally an object. Default: `{}`. */
  input?: Json | undefined;
};

/** Tokens of a model call. */
export type SimulatedUsage = {
  /** Of the prompt. Default: 0. */
  input_tokens?: number | undefined;
  /** Of the answer. Default: 0. */
  output_tokens?: number | undefined;
};

/** An answer of the model. Its calls run in parallel. */
export type SimulatedAnswer = {
  /** Its reasoning. */
  thinking?: string | undefined;
  /** Its text. */
  text?: string | undefined;
  /** The tool calls that it makes. */
  calls?: readonly SimulatedCall[] | undefined;
  /** Why the model stopped. Default: `tool_use` with calls, else `stop`. */
  finish?: FinishReason | undefined;
  /** Tokens. Default: 0. */
  usage?: SimulatedUsage | undefined;
};

/**
 * A model call that fails. `overloaded`, `rate_limited`, `server_error` and others are retried, which takes the next
 * answer; `auth`, `bad_request` and `refused` end the job.
 */
export type SimulatedFailure = {
  /** How it fails. */
  fail: FailureClass;
  /** What the provider says. Default: a sentence with the kind of failure. */
  message?: string | undefined;
  /** The wait in seconds that the provider asks for. */
  retry_after_s?: number | undefined;
};

/** One prompt, as the provider would get it. */
export type SimulatedRequest = {
  /** `provider/model`, of the settings. */
  model: string;
  /** The system prompt. */
  system: string;
  /** Follows the system prompt; empty: nothing is pinned. */
  pinned: string;
  /** The conversation, as far as it is in the prompt. */
  messages: readonly PromptMessage[];
  /** The tools that are offered, sorted by name. */
  tools: readonly ToolSpec[];
  /** The JSON Schema of the answer; null: any text. */
  output_schema: JsonObject | null;
  /** Parameters of the provider, of the settings. */
  parameters: JsonObject;
};

/** What the model does at one call. A text is an answer without calls; a function decides by the prompt. */
export type SimulatedStep = Given | ((request: SimulatedRequest) => Given | Promise<Given>);
type Given = string | SimulatedAnswer | SimulatedFailure;

/** Scripted answers, and the prompts of the calls so far. */
export type SimulatedModel = {
  /** In order, also of calls that failed. */
  readonly requests: readonly SimulatedRequest[];
  /** Answers that no call has taken yet. */
  readonly left: number;
  /** What the model does at its next call. For the test kit. */
  take(request: SimulatedRequest): Promise<Given>;
};

/**
 * A model that gives these answers in this order. When they are used up, the next call fails with a message that says so,
 * and the job fails.
 */
export function simulatedModel(answers: readonly SimulatedStep[]): SimulatedModel {
  const requests: SimulatedRequest[] = [];
  return {
    requests,
    get left() {
      return Math.max(0, answers.length - requests.length);
    },
    async take(request) {
      requests.push(request);
      const step = answers[requests.length - 1];
      if (step === undefined) return usedUp(answers.length);
      return typeof step === 'function' ? step(request) : step;
    },
  };
}

function usedUp(count: number): SimulatedFailure {
  const given = count === 1 ? '1 answer was' : `${count} answers were`;
  const message = `simulatedModel: ${given} given, and this is model call ${count + 1}. Add an answer for it.`;
  return { fail: 'bad_request', message };
}

/** The port of the agent loop to such a model. */
export function modelOf(simulated: Pick<SimulatedModel, 'take'>, ids: Ids): Model {
  return {
    isLoaded: () => true,
    async call(request, listener, signal) {
      if (signal.aborted) return { kind: 'aborted' };
      const outcome = outcomeOf(await simulated.take(toSimulatedRequest(request)), request, ids);
      if (outcome.kind === 'done') listener.started();
      return outcome;
    },
  };
}

function toSimulatedRequest(request: ModelRequest): SimulatedRequest {
  const { model, system, pinned, messages, tools, outputSchema, parameters } = structuredClone(request);
  const specs = tools.map(({ name, description, input_schema }) => ({ name, description, input_schema }));
  return {
    model: formatModelName(model),
    system,
    pinned,
    messages,
    tools: specs,
    output_schema: outputSchema,
    parameters,
  };
}

function outcomeOf(given: Given, request: ModelRequest, ids: Ids): ModelOutcome {
  if (typeof given === 'string') return outcomeOf({ text: given }, request, ids);
  if ('fail' in given) {
    const { fail, message = `The simulated model fails: ${given.fail}.`, retry_after_s: after } = given;
    const retryAfterMs = after === undefined ? null : after * 1_000;
    return { kind: 'failed', failure: { class: fail, message, retryAfterMs } };
  }
  const { thinking, text, calls = [], finish, usage } = given;
  const content: Block[] = [
    ...(thinking === undefined ? [] : [{ type: 'thinking' as const, text: thinking }]),
    ...(text === undefined ? [] : [{ type: 'text' as const, text }]),
    ...calls.map(({ tool, input = {} }) => ({
      type: 'tool_use' as const,
      id: ids.next<ToolCallId>(),
      name: tool,
      input,
    })),
  ];
  return {
    kind: 'done',
    answer: {
      content,
      finishReason: finish ?? (calls.length > 0 ? 'tool_use' : 'stop'),
      usage: { ...NO_USAGE, input_tokens: usage?.input_tokens ?? 0, output_tokens: usage?.output_tokens ?? 0 },
      modelId: request.model.model,
      responseId: null,
    },
  };
}
