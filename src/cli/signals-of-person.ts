/** Handles Ctrl-C and the other termination signals in client commands. */
import { EXIT, type Exit } from './exit.ts';

const SIGNALS = { SIGINT: EXIT.ctrlC, SIGTERM: EXIT.terminated, SIGHUP: EXIT.terminated } as const;

/** Returns a function that removes the handlers. `count`: 1 for the first signal. */
export function onSignals(receive: (exit: Exit, count: number) => void): () => void {
  let received = 0;
  const listeners = Object.entries(SIGNALS).map(([name, exit]) => {
    const listener = (): void => receive(exit, (received += 1));
    process.on(name, listener);
    return () => process.off(name, listener);
  });
  return () => listeners.forEach((leave) => leave());
}

/** Runs `work` until it ends or a signal arrives. */
export async function untilCtrlC(work: (signal: AbortSignal) => Promise<void>): Promise<Exit> {
  const over = new AbortController();
  let exit: Exit = EXIT.completed;
  const leave = onSignals((by, count) => {
    exit = by;
    over.abort();
    if (count > 1) process.exit(by);
  });
  try {
    await work(over.signal);
  } finally {
    leave();
  }
  return exit;
}
