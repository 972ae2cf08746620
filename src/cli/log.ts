/** The log: JSON lines on standard output. What could hold a key is left out, whatever logs it. */
import { pino, stdSerializers } from 'pino';
import type { Logger } from 'pino';
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
 * A failed query's own message quotes its parameters, and those hold what people and models said: of such an error the
 * statement is told, and its cause.
 */
function toLogged(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  if (!('query' in error && 'params' in error)) return stdSerializers.err(error);
  const cause =
    error.cause instanceof Error ? stdSerializers.err(error.cause) : { message: 'a query failed' };
  return { ...cause, query: String(error.query).trim().replaceAll(/\s+/g, ' ').slice(0, 200) };
}
