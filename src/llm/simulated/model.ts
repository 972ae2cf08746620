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

type Played = { thinking: string; text: string; calls: Block[]; finish: FinishReason | null };

/** Who receives the answer, and what ends it early. */
type Stage = { listener: ModelListener; signal: AbortSignal };

export function createSimulated(ids: Ids): Model {
  return {
    async call(request, listener, signal) {
      try {
        const effectiveListener = request.streaming ? listener : withoutDeltas(listener);
        return await play(ids, request, { listener: effectiveListener, signal });
      } catch (error) {
        if (signal.aborted) return { kind: 'aborted' };
        throw error;
      }
    },
  };
}

async function play(ids: Ids, request: ModelRequest, stage: Stage): Promise<ModelOutcome> {
  const played: Played = { thinking: '', text: '', calls: [], finish: null };
  stage.signal.throwIfAborted();
  let begun = false;
  for (const directive of planStep(request)) {
    if (directive.kind === 'fail') {
      if (request.failures < directive.times) return failed(directive);
      continue;
    }
    if (directive.kind !== 'wait' && !begun) stage.listener.started();
    begun ||= directive.kind !== 'wait';
    await perform(ids, directive, played, stage);
  }
  return { kind: 'done', answer: answerOf(played, request) };
}

async function perform(
  ids: Ids,
  directive: Exclude<Directive, { kind: 'fail' }>,
  played: Played,
  stage: Stage,
): Promise<void> {
  switch (directive.kind) {
    case 'think':
      played.thinking += (played.thinking === '' ? '' : '\n') + directive.text;
      for (const piece of inPieces(directive.text)) stage.listener.thinking(piece);
      return;
    case 'say':
      return say(directive.text, played, stage.listener);
    case 'help':
      return say(LANGUAGE, played, stage.listener);
    case 'tokens':
      return await talk(directive, played, stage);
    case 'wait':
      await sleep(directive.ms, undefined, { signal: stage.signal });
      return;
    case 'call':
      played.calls.push({ type: 'tool_use', id: ids.next(), name: directive.name, input: directive.input });
      return;
    case 'finish':
      played.finish = directive.reason;
      return;
  }
}

function withoutDeltas(listener: ModelListener): ModelListener {
  return { started: () => listener.started(), text: () => {}, thinking: () => {} };
}

function say(text: string, played: Played, listener: ModelListener): void {
  const all = (played.text === '' ? '' : '\n') + text;
  played.text += all;
  for (const piece of inPieces(all)) listener.text(piece);
}

/** Many words, some of them at every interval. */
async function talk(
  { count, overMs }: Extract<Directive, { kind: 'tokens' }>,
  played: Played,
  { listener, signal }: Stage,
): Promise<void> {
  const steps = Math.max(1, Math.min(count, Math.floor(overMs / STEP_MS)));
  const pause = overMs / steps;
  for (let step = 0, from = 0; step < steps; step++) {
    const until = Math.round((count * (step + 1)) / steps);
    const text = sentenceWords(from, until);
    from = until;
    played.text += text;
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

function answerOf(played: Played, request: ModelRequest): ModelAnswer {
  const content: Block[] = [];
  if (played.thinking !== '') content.push({ type: 'thinking', text: played.thinking });
  if (played.text !== '') content.push({ type: 'text', text: played.text });
  content.push(...played.calls);
  const inputCharacters =
    request.system.length + request.pinned.length + JSON.stringify([request.messages, request.tools]).length;
  return {
    content,
    finishReason: played.finish ?? (played.calls.length > 0 ? 'tool_use' : 'stop'),
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
