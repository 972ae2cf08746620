// A worker process that dies by SIGKILL right before or right after its k-th durable effect: a commit, or the effect of
// a tool outside. DIE_AT is the k, DIE_WHEN `before` or `after`; EFFECTS a file that names each effect.
import { appendFileSync } from 'node:fs';
import { pino } from 'pino';
import { untilSignal } from '../../../src/platform/signals.ts';
import { startCrashProcess } from './crash-process.ts';

const { env } = process;
const dieAt = Number(env['DIE_AT'] ?? Infinity);
const file = env['EFFECTS'] ?? '/dev/null';
let count = 0;

const log = pino({ level: env['LOG_LEVEL'] ?? 'warn' });
const terminated = untilSignal(log);
const drain = await startCrashProcess({
  env,
  log,
  ...(env['CONCURRENCY'] !== undefined && { concurrency: Number(env['CONCURRENCY']) }),
  watcher: {
    before(what) {
      if (env['DIE_WHEN'] !== 'before' || count !== dieAt - 1) return;
      appendFileSync(file, `dies before ${what}\n`);
      process.kill(process.pid, 'SIGKILL');
    },
    after(what) {
      count += 1;
      appendFileSync(file, `${what}\n`);
      // Some effects are not known before: then it dies after them.
      if (count === dieAt) process.kill(process.pid, 'SIGKILL');
    },
  },
});
process.stdout.write('up\n');
const code = await terminated;
await drain();
process.exit(code);
