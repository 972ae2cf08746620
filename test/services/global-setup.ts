// Starts the services once for a whole test run, whichever projects take part, and stops them at its end. A run
// that is interrupted leaves a helper behind, which removes its containers; embedded services end by themselves.
import { spawn } from 'node:child_process';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { bundlePrograms } from './programs.ts';
import { startTestServices, type TestServices } from './start.ts';

interface Shared {
  started: Promise<TestServices> | null;
  users: number;
}

// Each project loads this file for itself: shared values are kept on the process.
declare global {
  var nightshiftTestServices: Shared | undefined;
}
const shared = (globalThis.nightshiftTestServices ??= { started: null, users: 0 });

const say = (line: string): void => void process.stderr.write(`Services: ${line}\n`);

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  shared.users += 1;
  const services = await (shared.started ??= startOnce());
  project.provide('databaseUrl', services.databaseUrl);
  project.provide('redisUrl', services.redisUrl);
  project.provide('serviceContainers', services.containers);
  project.provide('testRun', services.run);
  return async () => {
    shared.users -= 1;
    if (shared.users > 0) return;
    await services.stop();
    shared.started = null;
  };
}

async function startOnce(): Promise<TestServices> {
  const [services] = await Promise.all([startTestServices(say), bundlePrograms()]);
  say(services.line);
  if (services.containers !== null) process.once('exit', () => removeLater(services.run));
  return services;
}

/** At exit nothing can be awaited: a process of its own deletes what the teardown did not. */
function removeLater(run: string): void {
  if (shared.started === null) return;
  const program = path.join(import.meta.dirname, 'remove-run.ts');
  spawn(process.execPath, [program, run], { detached: true, stdio: 'ignore' }).unref();
}
