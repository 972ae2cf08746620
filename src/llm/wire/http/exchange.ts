/**
 * One request and its response, driven by undici callbacks. It ends with its signal at any point: the connection is
 * closed, or not used if it was still being opened. Every end removes the abort listener.
 */
import type { Dispatcher } from 'undici';
import { decoderFor } from './decoder.ts';
import { LiveResponse, type Sink } from './live-response.ts';

type Controller = Dispatcher.DispatchController;
type ReceivedHeaders = Readonly<Record<string, string | string[] | undefined>>;

export class Exchange implements Dispatcher.DispatchHandler {
  readonly #signal: AbortSignal | null;
  readonly #resolve: (response: Response) => void;
  readonly #reject: (error: unknown) => void;
  readonly #onAbort = (): void => this.#abort();
  #controller: Controller | null = null;
  #sink: Sink | null = null;

  constructor(signal: AbortSignal | null, resolve: (response: Response) => void, reject: (error: unknown) => void) {
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
    signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    if (this.#signal?.aborted === true) this.#abort();
  }

  onResponseStart(controller: Controller, status: number, received: ReceivedHeaders): void {
    // Informational responses (100, 103) precede the final one.
    if (status < 200) return;
    const headers = headersOf(received);
    const decoder = decoderFor(headers.get('content-encoding'), controller);
    const response = new LiveResponse(status, headers, decoder ?? controller);
    decoder?.into(response);
    this.#sink = decoder ?? response;
    this.#resolve(response);
  }

  onResponseData(_controller: Controller, bytes: Uint8Array): void {
    this.#sink?.take(bytes);
  }

  onResponseEnd(): void {
    this.#forget();
    this.#sink?.takeEnd();
  }

  onResponseError(_controller: Controller, error: unknown): void {
    this.#forget();
    this.#break(this.#signal?.aborted === true ? error : fetchHeaders(error, this.#sink !== null));
  }

  #abort(): void {
    const reason: unknown = this.#signal?.reason;
    const error = reason instanceof Error ? reason : new Error('The call was aborted.');
    this.#controller?.abort(error);
    // undici does not report an abort to a request that still waits for its connection.
    this.#break(error);
  }

  #break(error: unknown): void {
    this.#reject(error);
    this.#sink?.takeError(error);
  }

  #forget(): void {
    this.#signal?.removeEventListener('abort', this.#onAbort);
  }
}

/** The network error is the cause; the message is the one by which it is recognised as a network error. */
function fetchHeaders(cause: unknown, begun: boolean): TypeError {
  return new TypeError(begun ? 'terminated' : 'fetch failed', { cause });
}

function headersOf(received: ReceivedHeaders): Headers {
  const headers = new Headers();
  for (const name of Object.keys(received)) {
    const value = received[name];
    if (typeof value === 'string') headers.append(name, value);
    else for (const one of value ?? []) headers.append(name, one);
  }
  return headers;
}
