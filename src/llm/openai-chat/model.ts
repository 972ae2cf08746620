/** The provider `openai-chat`: Chat Completions through the official SDK, for OpenAI and compatible servers. */
import type OpenAI from 'openai';
import type { Ids } from '../../core/ids.ts';
import type { Model } from '../../core/model/model.ts';
import { createModel } from '../wire/call.ts';
import type { Limits } from '../wire/wire.ts';
import { prepare } from '../wire/request/prepare.ts';
import { readAnswer } from './answer.ts';
import { createAssembly } from './assembly.ts';
import { OPENAI_CHAT } from './message.ts';
import { writeRequest } from './request.ts';

export function createOpenAIChat(client: OpenAI, secret: string, limits: Limits, ids: Ids): Model {
  const official = new URL(client.baseURL).hostname === 'api.openai.com';
  return createModel(
    {
      prepare: (request) =>
        prepare(
          () => writeRequest(request, official),
          (params, signal) => client.chat.completions.create(params, { signal }).asResponse(),
        ),
      assembly: createAssembly,
      answer: readAnswer,
    },
    { provider: OPENAI_CHAT, secret, limits, ids },
  );
}
