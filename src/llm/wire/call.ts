/**
 * One model call, the same for every provider: send, read, and return only after the provider's own end of the
 * answer. A `Wire` holds the differences. Nothing is retried here.
 */
import type { Ids } from '../../core/ids.ts';
import type { FailureClass, Model, ModelListener, ModelOutcome, ModelRequest } from '../../core/model/model.ts';
import { factsOfThrown, headersOfThrown } from './answer/error-facts.ts';
import { classify, failureText } from './answer/failure.ts';
import { listenToStream } from './answer/listen-stream.ts';
import { listenToWhole } from './answer/listen-whole.ts';
import type { LiveResponse } from './http/live-response.ts';
import { readRetryAfter } from './http/retry-after.ts';
import { withoutForeignSeals } from './request/sealed.ts';
import { createWatch, type Watch } from './http/watch.ts';
import { Unsupported } from './request/unsupported.ts';
import { wellFormedRequest } from './request/well-formed.ts';
import type { Limits, Received, Wire } from './wire.ts';

type ModelOptions = { provider: string; secret: string; limits: Limits; ids: Ids };

export function createModel<Client, Params>(wire: Wire<Client, Params>, options: ModelOptions): Model {
  const { limits, ids } = options;
  let isLoaded = false;
  const failed = (kind: FailureClass, message: string, retryAfterMs: number | null = null): ModelOutcome => ({
    kind: 'failed',
    failure: { class: kind, message: messageOf(message, options), retryAfterMs },
  });

  async function call(request: ModelRequest, listener: ModelListener, signal: AbortSignal): Promise<ModelOutcome> {
    if (signal.aborted) return { kind: 'aborted' };
    const written = write(request);
    if (written instanceof Unsupported) return failed('bad_request', written.message);
    // The provider's time limits begin after it.
    const client = await wire.load();
    isLoaded = true;
    if (signal.aborted) return { kind: 'aborted' };
    const watch = createWatch(signal, request.streaming ? limits.connectMs : limits.wholeMs);
    const response = await send(() => wire.send(client, written.params, watch.signal), watch);
    if ('kind' in response) return outcomeOf(response, watch, false);
    watch.received(limits.idleMs);
    const body = { bytes: response, watch, idleMs: limits.idleMs };
    const received = request.streaming
      ? await listenToStream(body, wire.assembly(), listener)
      : await listenToWhole(body, listener);
    return outcomeOf(received, watch, true);
  }

  function write(request: ModelRequest): { params: Params } | Unsupported {
    try {
      return { params: wire.write(wellFormedRequest(withoutForeignSeals(request))) };
    } catch (error) {
      if (error instanceof Unsupported) return error;
      throw error;
    }
  }

  function outcomeOf(received: Received, watch: Watch, begun: boolean): ModelOutcome {
    switch (received.kind) {
      case 'answered':
        return wire.answer(received.whole, ids);
      case 'broken':
        return watch.why() === 'caller' ? { kind: 'aborted' } : failed(received.class, received.message);
      case 'threw':
        return outcomeOfThrown(received.error, watch, begun);
    }
  }

  /** A received status takes precedence over the silence after it. */
  function outcomeOfThrown(error: unknown, watch: Watch, begun: boolean): ModelOutcome {
    if (watch.why() === 'caller') return { kind: 'aborted' };
    const facts = factsOfThrown(error);
    if (watch.why() === 'stalled' && (facts?.status ?? null) === null) {
      return failed('stream_stalled', 'the provider sent no data within the timeout');
    }
    // A bug in our code.
    if (facts === null) throw error;
    return failed(classify(facts, begun), failureText(facts), readRetryAfter(headersOfThrown(error), Date.now()));
  }

  return { isLoaded: () => isLoaded, call };
}

/** A message for a person: the provider's text without keys. */
function messageOf(message: string, { provider, secret }: ModelOptions): string {
  const withoutSecret = secret === '' ? message : message.replaceAll(secret, '[key]');
  return `${provider}: ${withoutSecret.replace(/\bsk-[\w*-]{8,}/g, '[key]').slice(0, 2_000)}`;
}

async function send(
  request: () => Promise<Response>,
  watch: Watch,
): Promise<LiveResponse | Extract<Received, { kind: 'threw' }>> {
  try {
    const response = await request();
    if (isLive(response)) return response;
    throw new Error('The SDK returned a different response object than the one it received.');
  } catch (error) {
    watch.end();
    return { kind: 'threw', error };
  }
}

/** The class itself would load the HTTP client of Node.js at the start of the process. */
function isLive(response: Response): response is LiveResponse {
  return 'read' in response;
}
