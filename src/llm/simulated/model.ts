/**
 * The provider `simulated`: a model without a key, network or memory, for first steps, tests and benchmarks. It
 * follows the script in the input (see `language.ts`) under any model name. Tokens are counted as a quarter of the
 * characters.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Block } from '../../core/conversation/blocks.ts';
import type { Ids } from '../../core/ids.ts';
import type {
  FinishReason,
  Model,
  ModelAnswer,
  ModelListener,
  ModelOutcome,
  ModelRequest,
} from '../../core/model/model.ts';
import { NO_USAGE } from '../../core/money/usage.ts';
import { inPieces, sentenceWords } from './pieces.ts';
import { planStep } from './plan.ts';
import { LANGUAGE } from './language.ts';
import type { Directive } from './script.ts';

/** Interval between chunks of a long text. */
const STEP_MS = 20;

/** The answer so far. */
type Draft = { thinking: string; text: string; calls: Block[]; finish: FinishReason | null };

/** Who receives the answer, and what ends it early. */
type ModelCall = { listener: ModelListener; signal: AbortSignal };

export function createSimulated(ids: Ids): Model {
  return {
    isLoaded: () => true,
    async call(request, listener, signal) {
      try {
        const effectiveListener = request.streaming ? listener : withoutDeltas(listener);
        return await answer(ids, request, { listener: effectiveListener, signal });
      } catch (error) {
        if (signal.aborted) return { kind: 'aborted' };
        throw error;
      }
    },
  };
}

async function answer(ids: Ids, request: ModelRequest, call: ModelCall): Promise<ModelOutcome> {
  const draft: Draft = { thinking: '', text: '', calls: [], finish: null };
  call.signal.throwIfAborted();
  let begun = false;
  for (const directive of planStep(request)) {
    if (directive.kind === 'fail') {
      if (request.failures < directive.times) return failed(directive);
      continue;
    }
    if (directive.kind !== 'wait' && !begun) call.listener.started();
    begun ||= directive.kind !== 'wait';
    await carryOut(ids, directive, draft, call);
  }
  return { kind: 'done', answer: answerOf(draft, request) };
}

async function carryOut(
  ids: Ids,
  directive: Exclude<Directive, { kind: 'fail' }>,
  draft: Draft,
  call: ModelCall,
): Promise<void> {
  switch (directive.kind) {
    case 'think':
      draft.thinking += (draft.thinking === '' ? '' : '\n') + directive.text;
      for (const piece of inPieces(directive.text)) call.listener.thinking(piece);
      return;
    case 'say':
      return say(directive.text, draft, call.listener);
    case 'help':
      return say(LANGUAGE, draft, call.listener);
    case 'tokens':
      return await stream(directive, draft, call);
    case 'wait':
      await sleep(directive.ms, undefined, { signal: call.signal });
      return;
    case 'call':
      draft.calls.push({ type: 'tool_use', id: ids.next(), name: directive.name, input: directive.input });
      return;
    case 'finish':
      draft.finish = directive.reason;
      return;
  }
}

function withoutDeltas(listener: ModelListener): ModelListener {
  return { started: () => listener.started(), text: () => {}, thinking: () => {} };
}

function say(text: string, draft: Draft, listener: ModelListener): void {
  const all = (draft.text === '' ? '' : '\n') + text;
  draft.text += all;
  for (const piece of inPieces(all)) listener.text(piece);
}

/** Many words, some of them at every interval. */
async function stream(
  { count, overMs }: Extract<Directive, { kind: 'tokens' }>,
  draft: Draft,
  { listener, signal }: ModelCall,
): Promise<void> {
  const steps = Math.max(1, Math.min(count, Math.floor(overMs / STEP_MS)));
  const pause = overMs / steps;
  for (let step = 0, from = 0; step < steps; step++) {
    const until = Math.round((count * (step + 1)) / steps);
    const text = sentenceWords(from, until);
    from = until;
    draft.text += text;
    for (const piece of inPieces(text)) listener.text(piece);
    if (overMs > 0) await sleep(pause, undefined, { signal });
  }
}

function failed(directive: Extract<Directive, { kind: 'fail' }>): ModelOutcome {
  const message = `simulated: the script requested the failure ${directive.class}`;
  return {
    kind: 'failed',
    failure: { class: directive.class, message, retryAfterMs: directive.retryAfterMs },
  };
}

function answerOf(draft: Draft, request: ModelRequest): ModelAnswer {
  const content: Block[] = [];
  if (draft.thinking !== '') content.push({ type: 'thinking', text: draft.thinking });
  if (draft.text !== '') content.push({ type: 'text', text: draft.text });
  content.push(...draft.calls);
  const inputCharacters =
    request.system.length + request.pinned.length + JSON.stringify([request.messages, request.tools]).length;
  return {
    content,
    finishReason: draft.finish ?? (draft.calls.length > 0 ? 'tool_use' : 'stop'),
    usage: {
      ...NO_USAGE,
      input_tokens: tokens(inputCharacters),
      output_tokens: tokens(JSON.stringify(content).length),
    },
    modelId: request.model.model,
    responseId: null,
  };
}

function tokens(characters: number): number {
  return Math.ceil(characters / 4);
}
