// A process that starts an embedded service, prints one line of JSON, and stays: for tests that kill it. node child.ts
// postgres <folder> | redis <folder>
import { startEmbeddedPostgres } from '../../src/dev/embedded-postgres.ts';
import { startLocalRedis } from '../../src/dev/local-redis.ts';

const [kind, folder = ''] = process.argv.slice(2);
const log = (line: string): void => void process.stderr.write(`${line}\n`);
const service =
  kind === 'redis'
    ? await startLocalRedis({ dir: folder, log })
    : await startEmbeddedPostgres({ dataDir: folder, log });
process.stdout.write(`${JSON.stringify({ url: service?.url, pid: service?.pid })}\n`);
process.once('SIGTERM', () => void service?.stop().then(() => process.exit(0)));
setInterval(() => {}, 60_000);
