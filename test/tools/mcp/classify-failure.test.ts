// The state of a request without a result: it decides whether it may be repeated.
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { expect, test } from 'vitest';
import { classifyFailure } from '../../../src/tools/mcp/calls/classify-failure.ts';

const caused = (code: string): Error =>
  new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code }) });

test.each([
  ['the connection ended', new McpError(ErrorCode.ConnectionClosed, 'x'), true, 'cut'],
  ['a server that uses the same code', new McpError(ErrorCode.ConnectionClosed, 'x'), false, 'refused'],
  ['its time was up', new McpError(ErrorCode.RequestTimeout, 'x', { timeout: 5 }), false, 'silent'],
  ['a server that uses that code', new McpError(ErrorCode.RequestTimeout, 'x'), false, 'refused'],
  ['it was refused', new McpError(ErrorCode.InvalidParams, 'x'), false, 'refused'],
  ['no server listens', caused('ECONNREFUSED'), false, 'not_sent'],
  ['the name does not exist', caused('ENOTFOUND'), false, 'not_sent'],
  ['the line broke', caused('ECONNRESET'), false, 'cut'],
  ['the session is gone', new StreamableHTTPError(404, 'x'), false, 'not_sent'],
  ['no key', new StreamableHTTPError(401, 'x'), false, 'refused'],
  ['a gateway gave up', new StreamableHTTPError(504, 'x'), false, 'cut'],
  ['whatever else', 'x', false, 'cut'],
])('%s', (_, error, isOver, failure) => {
  expect(classifyFailure(error, isOver)).toBe(failure);
});
