/** `fetch` for the provider: an answer that is too long is not read to its end. */
import type { CustomFetch } from 'openid-client';

/** In bytes, decompressed. What providers announce, and ID tokens with hundreds of groups, have far less. */
const LONGEST_ANSWER = 1024 * 1024;

export class AnswerTooLong extends Error {
  override name = 'AnswerTooLong';
}

export const boundedFetch: CustomFetch = async (address, { body = null, ...options }) => {
  const response = await fetch(address, { ...options, body });
  return response.body === null ? response : new Response(response.body.pipeThrough(bounded()), response);
};

function bounded(): TransformStream<Uint8Array, Uint8Array> {
  let total = 0;
  return new TransformStream({
    transform(chunk, controller) {
      total += chunk.byteLength;
      if (total > LONGEST_ANSWER) throw new AnswerTooLong(`An answer has more than ${LONGEST_ANSWER} bytes.`);
      controller.enqueue(chunk);
    },
  });
}
