/** Calls a model of each provider that this environment configures. */
import { usualModels, type Config } from '../../config/config.ts';
import { tryModel } from '../../platform/models/try-model.ts';
import { formatDuration } from '../terminal/time.ts';
import { fail, ok, warn, type Finding } from './finding.ts';

/** `named`: only this model; true: the default model, and one of each provider with a key. */
export async function* modelFindings(config: Config, named: string | true): AsyncGenerator<Finding> {
  const models = named === true ? modelsToCall(config) : [named];
  const advice = 'Set ANTHROPIC_API_KEY or OPENAI_API_KEY, or name a model.';
  if (models.length === 0) yield warn('model call', 'no provider with a key is configured: nothing was called', advice);
  for (const model of models) yield await findingOf(config, model);
}

/** The default model stands for its provider: a local server may have no other. The simulated provider needs no test. */
export function modelsToCall(config: Pick<Config, 'defaultModel' | 'anthropic' | 'openai'>): string[] {
  const { defaultModel } = config;
  const others = usualModels(config).filter((model) => providerOf(model) !== providerOf(defaultModel));
  return [defaultModel, ...others].filter((model) => providerOf(model) !== 'simulated');
}

/** Both APIs of OpenAI have the same key and address. */
function providerOf(model: string): string {
  const [provider = ''] = model.split('/', 1);
  return provider === 'openai-chat' ? 'openai' : provider;
}

async function findingOf(config: Config, model: string): Promise<Finding> {
  const tried = await tryModel(config, model);
  if (tried.kind === 'answered') return ok('model call', `${model} answered within ${formatDuration(tried.ms)}`);
  const advice = 'Check the key and the address of the provider, and the name of the model.';
  return fail('model call', `${model}: ${tried.reason}`, advice);
}
