// The platform as it runs in production: an API process and worker processes of the command line, each on its own.
import { startChild, type Child } from './children.ts';
import { openClient, type Client } from './client.ts';

const MAIN = 'src/cli/main.ts';

export type Env = Record<string, string>;

/** Resolves once it answers. It has the same port when it is started again with the same environment. */
export async function startApi(env: Env): Promise<{ child: Child; client: Client; env: Env }> {
  const child = startChild(MAIN, ['api'], { PORT: '0', ...env });
  const [, url = ''] = /"address":"(http:[^"]+)"/.exec(await child.says(/the API is up/)) ?? [];
  return { child, client: openClient(url), env: { ...env, PORT: new URL(url).port } };
}

/** Resolves once it claims. */
export async function startWorker(env: Env): Promise<Child> {
  const child = startChild(MAIN, ['worker'], env);
  await child.says(/worker process is up/);
  return child;
}
