/** The log: JSON lines on standard output. Fields that can contain a key are always redacted. */
import { pino, stdSerializers, type Logger } from 'pino';
import type { LogLevel } from '../config/config.ts';

export function createLog(level: LogLevel): Logger {
  return pino({
    level,
    base: { pid: process.pid },
    serializers: { err: toLogged },
    redact: ['*.authorization', '*.cookie', '*["set-cookie"]', '*.apiKey', '*.headers', 'err.headers'],
  });
}

/**
 * The message of a failed query quotes its parameters, which contain texts of users and models. Only the statement and
 * the cause are logged.
 */
function toLogged(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  if (!('query' in error && 'params' in error)) return stdSerializers.err(error);
  const cause = error.cause instanceof Error ? stdSerializers.err(error.cause) : { message: 'a query failed' };
  return { ...cause, query: String(error.query).trim().replaceAll(/\s+/g, ' ').slice(0, 200) };
}
