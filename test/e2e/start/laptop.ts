// The platform as `npm start` runs it: one process on the run's PostgreSQL, without Redis unless it finds a program for
// it.
import { createClient, type Client } from '../../../src/client/index.ts';
import { startChild, type Child } from '../rig/children.ts';

const READY = /is ready at (http:\S+)/;

export type Laptop = { child: Child; url: string; client: Client };

/** `folder`: of its own, for its data. Resolves once it has printed its address and its pages. */
export async function startLaptop(
  databaseUrl: string,
  folder: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Laptop> {
  const child = beginLaptop(databaseUrl, folder, more);
  const [, url = ''] = READY.exec(await child.says(READY)) ?? [];
  await child.says(/^Try it/);
  return { child, url, client: createClient({ url }) };
}

/** Does not wait for its end. */
export function beginLaptop(databaseUrl: string, folder: string, more: Readonly<Record<string, string>> = {}): Child {
  const env = { DATABASE_URL: databaseUrl, NIGHTSHIFT_DATA: folder, PORT: '0', LOG_LEVEL: 'warn' };
  return startChild('src/cli/main.ts', ['start'], { ...env, ...more });
}

export async function stopLaptop({ child }: Laptop): Promise<void> {
  child.signal('SIGTERM');
  await child.exited;
}
