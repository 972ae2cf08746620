/** Calls a model once with the settings of this environment, to see that the key, the address and the model are right. */
import type { Config } from '../../config/config.ts';
import { parseModelName } from '../../core/model/model.ts';
import { modelsOf } from './configured.ts';

/** The result of a call. `ms`: its duration. */
export type Tried = { kind: 'answered'; ms: number } | { kind: 'failed'; reason: string };

/** The smallest limit that all providers accept. */
const TOKENS = 16;
const TIMEOUT_MS = 30_000;

/** `model`: provider/model. Costs at most 16 tokens of output. */
export async function tryModel(config: Config, model: string): Promise<Tried> {
  const name = parseModelName(model);
  const port = name === null ? null : modelsOf(config, new Map(), process.env).for(name.provider);
  if (name === null || port === null) return { kind: 'failed', reason: `the provider of ${model} is not configured` };
  const began = performance.now();
  const outcome = await port.call(
    {
      model: name,
      system: '',
      pinned: '',
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Say: ok' }] }],
      tools: [],
      maxTokens: TOKENS,
      streaming: false,
      parameters: {},
      cacheKey: 'nightshift-doctor',
      failures: 0,
      outputSchema: null,
    },
    { started: () => undefined, text: () => undefined, thinking: () => undefined },
    AbortSignal.timeout(TIMEOUT_MS),
  );
  switch (outcome.kind) {
    case 'done':
      return { kind: 'answered', ms: performance.now() - began };
    case 'failed':
      return { kind: 'failed', reason: `${outcome.failure.class}: ${outcome.failure.message}` };
    case 'aborted':
      return { kind: 'failed', reason: `no answer within ${TIMEOUT_MS / 1_000} s` };
  }
}
