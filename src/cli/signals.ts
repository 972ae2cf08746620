/** From the first signal to the end: the first asks for a graceful end, the second ends at once. */
import type { Logger } from 'pino';

/** Resolves with the exit code to end with: 0 for a signal, 1 where something broke that nobody caught. */
export function untilSignal(log: Logger): Promise<number> {
  return new Promise((resolve) => {
    let told = false;
    const onSignal = (signal: NodeJS.Signals): void => {
      if (told) process.exit(130);
      told = true;
      log.info({ signal }, 'ending');
      resolve(0);
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
    // A promise that a tool forgot harms nobody but that tool.
    process.on('unhandledRejection', (error) => log.error({ err: error }, 'a promise was rejected unheard'));
    process.on('uncaughtException', (error) => {
      log.fatal({ err: error }, 'an exception was not caught');
      resolve(1);
    });
  });
}
