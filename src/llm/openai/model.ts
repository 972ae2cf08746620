/** The provider `openai`: the Responses API through the official SDK. */
import type { Ids } from '../../core/ids.ts';
import type { Model } from '../../core/model/model.ts';
import { createModel } from '../wire/call.ts';
import type { Limits } from '../wire/wire.ts';
import { readAnswer } from './answer.ts';
import { createAssembly } from './assembly.ts';
import type { OpenAIClient } from './client.ts';
import { OPENAI } from './items.ts';
import { writeRequest } from './request.ts';

export function createOpenAI(client: OpenAIClient, secret: string, limits: Limits, ids: Ids): Model {
  return createModel(
    {
      load: client,
      write: writeRequest,
      send: (sdk, params, signal) => sdk.responses.create(params, { signal }).asResponse(),
      assembly: createAssembly,
      answer: readAnswer,
    },
    { provider: OPENAI, secret, limits, ids },
  );
}
