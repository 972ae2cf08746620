/** The log: JSON lines on standard output. What could hold a key is left out, whatever logs it. */
import { pino } from 'pino';
import type { Logger } from 'pino';
import type { LogLevel } from '../config.ts';

export function createLog(level: LogLevel): Logger {
  return pino({
    level,
    base: { pid: process.pid },
    redact: ['*.authorization', '*.apiKey', '*.headers', 'err.headers'],
  });
}
