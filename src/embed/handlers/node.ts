/** The API as a handler for `node:http` and frameworks that use its requests. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { Refusal } from '../../core/errors.ts';
import { identifierOf } from '../callers.ts';
import type { EmbeddedApi } from '../embedded-api.ts';
import type { Authenticate, NodeHandler, NodeRequest } from '../options.ts';
import { within } from './path.ts';
import { BODY_READ, NOT_UNDER_PATH, answerOf } from './refusals.ts';

export function toNodeHandler(
  api: EmbeddedApi,
  path: string,
  authenticate: Authenticate<NodeRequest> | undefined,
): NodeHandler {
  const identify = identifierOf(authenticate, api.log);
  return (request, response, next) => {
    if (!isReceived(request) || !isResponse(response))
      throw new TypeError('The handler of Nightshift takes a request and a response of node:http.');
    const url = within(path, urlOf(request));
    if (url === null) return next === undefined ? answer(response, NOT_UNDER_PATH) : next();
    if (request.readableDidRead) {
      api.log.error(BODY_READ.message);
      return answer(response, BODY_READ);
    }
    request.url = url;
    return api.dispatch(request, response, () => identify(request));
  };
}

/** As the client sent it: Express takes the path of a router out of `url`. */
function urlOf(request: IncomingMessage & { originalUrl?: unknown }): string {
  return typeof request.originalUrl === 'string' ? request.originalUrl : (request.url ?? '/');
}

function isReceived(request: NodeRequest): request is IncomingMessage {
  return request instanceof Readable && 'rawHeaders' in request && 'socket' in request;
}

function isResponse(response: object): response is ServerResponse {
  return 'writeHead' in response && 'setHeader' in response && 'once' in response;
}

function answer(response: ServerResponse, refusal: Refusal): void {
  const { status, headers, text } = answerOf(refusal);
  response.writeHead(status, headers).end(text);
}
