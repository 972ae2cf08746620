/** Prepares a request for sending, or gives the reason why this provider cannot accept it. */
import type { Prepared } from '../wire.ts';
import { Unsupported } from './unsupported.ts';

export function prepare<P>(write: () => P, send: (params: P, signal: AbortSignal) => Promise<Response>): Prepared {
  try {
    const params = write();
    return { kind: 'ready', send: (signal) => send(params, signal) };
  } catch (error) {
    if (error instanceof Unsupported) return { kind: 'unsupported', message: error.message };
    throw error;
  }
}
