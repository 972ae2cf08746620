/** The provider `openai-chat`: Chat Completions through the official SDK, for OpenAI and compatible servers. */
import type { Ids } from '../../core/ids.ts';
import type { Model } from '../../core/model/model.ts';
import { createModel } from '../wire/call.ts';
import type { Limits } from '../wire/wire.ts';
import type { OpenAIClient } from '../openai/client.ts';
import { readAnswer } from './answer.ts';
import { createAssembly } from './assembly.ts';
import { OPENAI_CHAT } from './message.ts';
import { writeRequest } from './request.ts';

/** `official`: the server is OpenAI's own. */
export function createOpenAIChat(
  { client, official }: { client: OpenAIClient; official: boolean },
  secret: string,
  limits: Limits,
  ids: Ids,
): Model {
  return createModel(
    {
      load: client,
      write: (request) => writeRequest(request, official),
      send: (sdk, params, signal) => sdk.chat.completions.create(params, { signal }).asResponse(),
      assembly: createAssembly,
      answer: readAnswer,
    },
    { provider: OPENAI_CHAT, secret, limits, ids },
  );
}
