// Once for a run: builds the console, and starts the platform that most test files share.
import type { TestProject } from 'vitest/node';
import { killChildren } from '../../e2e/rig/children.ts';
import { buildConsole } from './build.ts';
import { findHeadless } from './chromium.ts';
import { startPlatform } from './start-platform.ts';
import { ADMIN_KEY, keysOfAll } from './tenants.ts';

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (findHeadless() === null) {
    process.stderr.write('Console: no Chromium here (CHROMIUM_PATH may name one). Its tests are SKIPPED.\n');
    return () => Promise.resolve();
  }
  await buildConsole();
  const services = project.getProvidedContext();
  const platform = await startPlatform(services, {
    NIGHTSHIFT_API_KEYS: keysOfAll(),
    NIGHTSHIFT_ADMIN_KEY: ADMIN_KEY,
    NIGHTSHIFT_SECRET_KEY: 'the-secret-of-these-tests-with-32-characters',
  });
  project.provide('consolePlatform', { url: platform.url, effects: platform.effects });
  return async () => {
    await platform.end();
    await killChildren();
  };
}
