/** Signals of server processes: the first starts a graceful shutdown, the second exits at once. */
import type { Logger } from 'pino';
import { hiddenField } from '../tools/packages/hidden-services.ts';
import { AS_IT_IS, type Hide } from '../tools/packages/hide.ts';

type Options = {
  /** Hides the secrets of tool packages in errors that no code awaits, which may be those of a tool. */
  hide?: () => Hide;
  /** Default: SIGINT and SIGTERM. */
  signals?: readonly NodeJS.Signals[];
};

/** Resolves with the exit code: 0 after a signal, 1 after an uncaught exception. */
export function untilSignal(
  log: Logger,
  { hide = () => AS_IT_IS, signals = ['SIGINT', 'SIGTERM'] }: Options = {},
): Promise<number> {
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
    process.on('unhandledRejection', (error) =>
      log.error({ err: hiddenField(error, hide()) }, 'unhandled promise rejection'),
    );
    process.on('uncaughtException', (error) => {
      log.fatal({ err: hiddenField(error, hide()) }, 'uncaught exception');
      resolve(1);
    });
  });
}
