/**
 * Sends deliveries to receivers: one POST, signed, to an address that is resolved and checked for each attempt as that
 * of `http_fetch` is. No redirects, no proxies, no credentials of this process.
 */
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { DeliveryId, TenantId } from '../core/ids.ts';
import { isOwnName, isPublic } from '../tools/built-in/http/addresses.ts';
import {
  bare,
  createGatekeeper,
  systemResolve,
  type Gatekeeper,
  type Resolve,
} from '../tools/built-in/http/gatekeeper.ts';
import { send } from '../tools/built-in/http/hop.ts';
import { ToolFault } from '../tools/run/tool-fault.ts';
import type { WebhookLimits } from './limits.ts';
import { Lookups } from './lookups.ts';
import { signatures } from './signatures.ts';

/** From the first DNS lookup to the head of the response. */
const ATTEMPT_MS = 10_000;
/** How long the body of a response may take that has begun. */
const BODY_MS = 1_000;
/** Bytes of it that are kept. */
const KEPT_BYTES = 1_024;

/** `secrets`: all of them sign. */
export type Outgoing = {
  id: DeliveryId;
  tenantId: TenantId;
  url: string;
  body: string;
  secrets: readonly string[];
};

export type Response = {
  /** Null: there was no response. */
  status: number | null;
  body: string | null;
  /** Null: delivered. */
  error: string | null;
  /** What the receiver asked for, in milliseconds. */
  retryAfter: number | null;
  durationMs: number;
};

export type Receivers = {
  /** Why this address cannot be that of a webhook; null: it can. Its name is not resolved. */
  whyNot(url: string): string | null;
  /** Does not reject, unless `signal` aborts. */
  post(outgoing: Outgoing, signal: AbortSignal): Promise<Response>;
};

export function createReceivers(limits: WebhookLimits, resolve: Resolve = systemResolve): Receivers {
  const gatekeeper = createGatekeeper(limits.allow, resolve);
  const lookups = new Lookups();
  const limited = (tenantId: TenantId, signal: AbortSignal): Gatekeeper => ({
    ...gatekeeper,
    admit: async (host) =>
      isIP(bare(host)) === 0 ? lookups.run(tenantId, signal, () => gatekeeper.admit(host)) : gatekeeper.admit(host),
  });
  return {
    whyNot(text) {
      const url = URL.parse(text);
      if (url === null) return 'it is not a URL';
      if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'it is neither https nor http';
      if (url.protocol === 'http:' && !limits.http) return 'it is not https, and the operator does not allow http';
      if (url.username !== '' || url.password !== '') return 'it contains a user name or a password';
      const host = bare(url.hostname);
      const isNumber = host.includes(':') || /^[\d.]+$/.test(host);
      const isForbidden = isNumber ? !isPublic(host) && !gatekeeper.mayReach(host, host) : isOwnName(host);
      return isForbidden && !limits.allow.includes(host) ? 'its host is not public' : null;
    },
    async post(outgoing, signal) {
      const beganAt = performance.now();
      const timeout = AbortSignal.timeout(ATTEMPT_MS);
      const took = () => Math.round(performance.now() - beganAt);
      try {
        const url = new URL(outgoing.url);
        if (url.protocol === 'http:' && !limits.http) throw new ToolFault('unsupported_scheme', 'http is not allowed.');
        const ended = AbortSignal.any([timeout, signal]);
        const response = await send(toHop(outgoing, url), limited(outgoing.tenantId, ended), ended);
        const status = response.statusCode ?? 0;
        const body = await beginning(response);
        const error = isSuccess(status) ? null : `The receiver answered ${status}.${redirectText(status)}`;
        return { status, body, error, retryAfter: retryAfterOf(response), durationMs: took() };
      } catch (error) {
        signal.throwIfAborted();
        const text = timeout.aborted ? `No response within ${ATTEMPT_MS / 1_000} s.` : textOf(error);
        return { status: null, body: null, error: text, retryAfter: null, durationMs: took() };
      }
    },
  };
}

function toHop({ id, body, secrets }: Outgoing, url: URL) {
  const at = new Date();
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'nightshift',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': signatures({ id, at, body }, secrets),
  };
  return { url, method: 'POST', headers, body };
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

function redirectText(status: number): string {
  return status >= 300 && status < 400 ? ' Redirects are not followed.' : '';
}

/** The first bytes of the body, as text. The connection ends with it. */
async function beginning(response: IncomingMessage): Promise<string> {
  const kept: Buffer[] = [];
  let bytes = 0;
  const ends = setTimeout(() => response.destroy(), BODY_MS);
  try {
    for await (const chunk of response) {
      const part = Buffer.from(chunk);
      kept.push(part);
      bytes += part.length;
      if (bytes >= KEPT_BYTES) break;
    }
  } catch {
    // The head of the response decides.
  } finally {
    clearTimeout(ends);
    response.destroy();
  }
  return new TextDecoder().decode(Buffer.concat(kept).subarray(0, KEPT_BYTES));
}

/** Seconds or a date, for 429 and 503. */
function retryAfterOf({ statusCode, headers }: IncomingMessage): number | null {
  const text = headers['retry-after'];
  if (text === undefined || (statusCode !== 429 && statusCode !== 503)) return null;
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) && ms > 0 ? ms : null;
}

const CERTIFICATE =
  /\((?:\w*CERT\w*|SELF_SIGNED\w*|UNABLE_TO_(?:GET_ISSUER|VERIFY_LEAF)\w*|ERR_TLS_CERT\w*|HOSTNAME_MISMATCH)\)/;

/** What clients read. It does not say which addresses a name has in the network of this process. */
function textOf(error: unknown): string {
  if (error instanceof ToolFault && error.code === 'address_forbidden')
    return 'The address of the receiver is not public.';
  const text = error instanceof Error ? error.message : 'The request failed.';
  const code = CERTIFICATE.exec(text)?.[0];
  return code === undefined ? text : `The certificate of the receiver is not valid ${code}.`;
}
