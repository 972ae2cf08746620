// A process whose provider SDK is not installed does not start: otherwise each job would fail in its first model call.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const MODELS = path.join(import.meta.dirname, '../../src/llm/models.ts');

/** A process without the package `missing`, which creates models with these options. */
function createsModels(missing: string, options: object): Promise<unknown> {
  const hooks = `import { registerHooks } from 'node:module';
    registerHooks({ resolve: (name, context, next) => next(name === '${missing}' ? 'not-installed' : name, context) });`;
  const program = `const { createModels } = await import(${JSON.stringify(MODELS)});
    createModels({ idleTimeoutMs: 1, ...${JSON.stringify(options)} });`;
  return promisify(execFile)(process.execPath, [
    '--import',
    `data:text/javascript,${encodeURIComponent(hooks)}`,
    '--input-type=module',
    '-e',
    program,
  ]);
}

test.each([
  ['openai', { openai: { apiKey: 'k' } }],
  ['@anthropic-ai/sdk', { anthropic: { apiKey: 'k' } }],
])('without %s a process does not start, unless it has no key for it', async (missing, options) => {
  await expect(createsModels(missing, options)).rejects.toThrow(/Cannot find package 'not-installed'/);
  await createsModels(missing, {});
});
