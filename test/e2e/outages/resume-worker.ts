// A worker process with the default times and limits of production.
import { pino } from 'pino';
import { untilSignal } from '../../../src/platform/signals.ts';
import { parseEnvironment } from '../../../src/config/config.ts';
import { startCrashProcess } from '../crash/crash-process.ts';

const log = pino({ level: process.env['LOG_LEVEL'] ?? 'warn' });
const terminated = untilSignal(log);
const times = parseEnvironment({});
const drain = await startCrashProcess({
  env: process.env,
  watcher: { before: () => undefined, after: () => undefined },
  log,
  times,
  concurrency: times.concurrency,
});
process.stdout.write('up\n');
const code = await terminated;
await drain();
process.exit(code);
