/**
 * Makes HTTP requests. Only public addresses are allowed, unless the operator allows more. Each host, also of each
 * redirect, is resolved and checked, and the connection uses exactly the checked address. No cookies, proxies or
 * credentials of this process are used.
 */
import type { IncomingMessage } from 'node:http';
import { isJsonObject, type JsonObject } from '../../../core/json.ts';
import { ToolFault } from '../../run/tool-fault.ts';
import type { Tool } from '../../registry/tool.ts';
import { builtIn, textIn } from '../built-in.ts';
import { fitting } from '../fitting.ts';
import { bodyText, readBody } from './body.ts';
import { createGatekeeper, systemResolve, type Gatekeeper, type Resolve } from './gatekeeper.ts';
import { send, type Hop } from './hop.ts';
import type { HttpFetchLimits } from './limits.ts';
import { parseUrl, redirected } from './redirect.ts';

export const HTTP_FETCH = 'http_fetch';

const DESCRIPTION =
  'Makes an HTTP request to a public web address and returns status, headers and body. Long bodies are cut (truncated: true).';

/** Headers that the HTTP client sets itself. */
const OWN_HEADERS = [
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS'];

const PROPERTIES: JsonObject = {
  url: { type: 'string', minLength: 1, maxLength: 8_000, description: 'An http or https URL.' },
  method: { type: 'string', enum: METHODS, description: 'Default: GET.' },
  headers: {
    type: 'object',
    maxProperties: 50,
    additionalProperties: { type: 'string', maxLength: 8_000 },
  },
  body: { type: 'string', maxLength: 1_000_000 },
};

/** Added to the time limit of the request itself. */
const GRACE_MS = 5_000;

export type HttpFetchParts = { limits: HttpFetchLimits; resultChars: number; resolve?: Resolve };

export function httpFetch({ limits, resultChars, resolve = systemResolve }: HttpFetchParts): Tool {
  const gatekeeper = createGatekeeper(limits.allow, resolve);
  return builtIn({
    name: HTTP_FETCH,
    description: DESCRIPTION,
    properties: PROPERTIES,
    required: ['url'],
    effect: 'once',
    approval: limits.approval ?? (({ input }) => (SAFE_METHODS.includes(methodOf(input)) ? 'never' : 'always')),
    timeoutMs: limits.timeoutMs + GRACE_MS,
    async execute(input, { signal }) {
      const outOfTime = AbortSignal.timeout(limits.timeoutMs);
      try {
        const arrived = await follow(toHop(input), gatekeeper, limits, AbortSignal.any([signal, outOfTime]));
        const { result, cut } = fitting(arrived, 'body', resultChars);
        return { ...result, truncated: result.truncated || cut };
      } catch (error) {
        if (outOfTime.aborted) {
          throw new ToolFault('timed_out', `The request took longer than ${limits.timeoutMs / 1_000} s.`);
        }
        throw error;
      }
    },
  });
}

function methodOf(input: unknown): string {
  return isJsonObject(input) && typeof input['method'] === 'string' ? input['method'] : 'GET';
}

function toHop(input: JsonObject): Hop {
  const given = isJsonObject(input['headers']) ? input['headers'] : {};
  const headers: Record<string, string> = { 'user-agent': 'nightshift', accept: '*/*' };
  for (const key of Object.keys(given)) {
    const value = textIn(given, key);
    const name = key.toLowerCase();
    if (OWN_HEADERS.includes(name) || name.startsWith('proxy-')) {
      throw new ToolFault('invalid_header', `The header ${name} cannot be set by the caller.`);
    }
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name) || !/^[\t\x20-\x7E\x80-\xFF]*$/.test(value)) {
      throw new ToolFault(
        'invalid_header',
        `The name or value of the header ${JSON.stringify(key)} contains invalid characters.`,
      );
    }
    headers[name] = value;
  }
  const body = typeof input['body'] === 'string' ? input['body'] : null;
  const packed = { ...headers, 'accept-encoding': 'gzip, deflate, br' };
  return { url: parseUrl(textIn(input, 'url')), method: methodOf(input), headers: packed, body };
}

/** Sends the request and follows redirects to the final response. */
async function follow(first: Hop, gatekeeper: Gatekeeper, limits: HttpFetchLimits, signal: AbortSignal) {
  let hop = first;
  for (let left = limits.redirects; ; left -= 1) {
    const response = await send(hop, gatekeeper, signal);
    try {
      const next = redirected(hop, response.statusCode ?? 0, response.headers.location);
      if (next === null) return await readWhole(response, limits, signal);
      if (left === 0)
        throw new ToolFault('too_many_redirects', `The request was redirected more than ${limits.redirects} times.`);
      hop = next;
    } finally {
      response.destroy();
    }
  }
}

async function readWhole(response: IncomingMessage, limits: HttpFetchLimits, signal: AbortSignal) {
  const body = await readBody(response, limits).catch((error: unknown) => {
    if (error instanceof ToolFault || signal.aborted) throw error;
    throw new ToolFault('invalid_response', 'The body ended early or cannot be decompressed.');
  });
  const headers = Object.fromEntries(
    Object.entries(response.headersDistinct).map(([name, values = []]) => [name, values.join(', ')]),
  );
  const text = bodyText(body, headers['content-type'] ?? '');
  return { status: response.statusCode ?? 0, headers, body: text, truncated: body.truncated };
}
