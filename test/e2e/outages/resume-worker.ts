// A worker process with the times and the room that production has where nothing is configured.
import { pino } from 'pino';
import { untilSignal } from '../../../src/platform/signals.ts';
import { parseEnvironment } from '../../../src/config/config.ts';
import { startCrashProcess } from '../crash/crash-process.ts';

const log = pino({ level: process.env['LOG_LEVEL'] ?? 'warn' });
const told = untilSignal(log);
const times = parseEnvironment({});
const drain = await startCrashProcess({
  env: process.env,
  watcher: { before: () => undefined, after: () => undefined },
  log,
  times,
  concurrency: times.concurrency,
});
process.stdout.write('up\n');
const code = await told;
await drain();
process.exit(code);
