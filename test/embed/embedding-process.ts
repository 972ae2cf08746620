// A service that embeds Nightshift, runs a job, stops and must then end by itself. What it leaves behind goes to standard
// output as JSON. Arguments: the database, and Redis or nothing.
import { createNightshift } from '../../src/index.ts';

const EVENTS = [
  'SIGINT',
  'SIGTERM',
  'SIGHUP',
  'exit',
  'beforeExit',
  'uncaughtException',
  'unhandledRejection',
  'warning',
];
const DISPATCHER = Symbol.for('undici.globalDispatcher.1');

function left() {
  return {
    listeners: Object.fromEntries(EVENTS.map((name) => [name, process.listenerCount(name)])),
    dispatcher: Reflect.get(globalThis, DISPATCHER) ?? null,
    telemetry: Reflect.get(globalThis, Symbol.for('opentelemetry.js.api.1')) ?? null,
  };
}

const [, , databaseUrl = '', redisUrl] = process.argv;
// Node's own fetch sets its dispatcher when it is first used.
await fetch('data:,');
const before = left();
const nightshift = await createNightshift({
  databaseUrl,
  ...(redisUrl === undefined ? {} : { redisUrl, prefix: `embedding-${process.pid}` }),
  logger: 'silent',
  drainMs: 2_000,
});
await nightshift.startWorker();
const handle = await nightshift.fetchHandler({ authenticate: () => ({ tenant: 'acme', scopes: ['read'] }) });
const acme = nightshift.tenant('acme');
const config = { model: 'simulated/default' };
const { job_id, context_id } = await acme.workers.create({ name: 'w', config, input: 'say: done' });
const { status } = await acme.jobs.wait(job_id);
// Both are open when it stops.
const stream = await handle(new Request(`http://service.test/api/contexts/${context_id}/events`));
await acme.workers.create({ name: 'long', config, input: 'wait: 1h' });
await nightshift.stop();
await stream.text();
const after = left();
const late = await acme.workers
  .list()
  .page()
  .catch((error: { code?: string }) => error.code);
const stopped = await nightshift.startWorker().catch((error: { code?: string }) => error.code);
const refused = (await handle(new Request('http://service.test/api/workers'))).status;
const same = before.dispatcher === after.dispatcher && before.telemetry === after.telemetry;
process.stdout.write(
  JSON.stringify({ status, late, stopped, refused, same, before: before.listeners, after: after.listeners }),
);
