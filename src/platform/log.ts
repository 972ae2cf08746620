/** The log: JSON lines. Fields that can contain a key are always redacted. */
import { destination, pino, stdSerializers, type DestinationStream, type Logger, type LoggerOptions } from 'pino';
import type { LogLevel } from '../config/config.ts';
import { perTurn } from '../per-turn.ts';

const SAFELY = {
  serializers: { err: toLogged },
  redact: ['*.authorization', '*.cookie', '*["set-cookie"]', '*.apiKey', '*.headers', 'err.headers'],
} satisfies LoggerOptions;

/** On standard output. */
export function createLog(level: LogLevel): Logger {
  return pino({ ...SAFELY, level, base: { pid: process.pid } }, toStandardOutput());
}

/** On standard error, for a service that embeds the platform: it has no handler at the exit of the process. */
export function createEmbeddedLog(level: LogLevel): Logger {
  return pino({ ...SAFELY, level, base: { pid: process.pid } }, destination({ dest: 2, sync: true }));
}

/** Writes with the logger of another service. */
export function logWith(logger: Logger): Logger {
  return logger.child({}, SAFELY);
}

/**
 * Lines of one turn of the event loop are written together: under load, a write costs more than a line. Writing does not
 * wait for a slow reader. pino calls `flushSync` after a fatal line.
 */
function toStandardOutput(): DestinationStream & { flushSync: () => void } {
  const output = destination({ sync: false });
  const lines = perTurn<string>((added) => output.write(added.join('')));
  const flushSync = (): void => {
    lines.flush();
    output.flushSync();
  };
  process.on('exit', flushSync);
  return { write: lines.add, flushSync };
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
