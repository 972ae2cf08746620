/** Signals of server processes: the first starts a graceful shutdown, the second exits at once. */
import type { Logger } from 'pino';

/** Resolves with the exit code: 0 after a signal, 1 after an uncaught exception. */
export function untilSignal(log: Logger, signals: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM']): Promise<number> {
  return new Promise((resolve) => {
    let isStopping = false;
    const onSignal = (signal: NodeJS.Signals): void => {
      if (isStopping) process.exit(130);
      isStopping = true;
      log.info({ signal }, 'shutting down');
      resolve(0);
    };
    for (const signal of signals) process.on(signal, onSignal);
    // An unhandled rejection in a tool affects only that tool, so the process continues.
    process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled promise rejection'));
    process.on('uncaughtException', (error) => {
      log.fatal({ err: error }, 'uncaught exception');
      resolve(1);
    });
  });
}
