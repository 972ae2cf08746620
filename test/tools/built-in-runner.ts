/** Runs calls of built-in tools as a worker process does, and reads their JSON. */
import { realpath, rm } from 'node:fs/promises';
import { expect } from 'vitest';
import type { Json } from '../../src/core/json.ts';
import type { ToolInvocation } from '../../src/core/tools/tool.ts';
import { createToolRunner } from '../../src/tools/run/execute.ts';
import { createRegistry } from '../../src/tools/registry/registry.ts';
import type { Tool } from '../../src/tools/registry/tool.ts';
import { temporaryFolder as folder } from '../services/temporary-folder.ts';
import { NO_SERVICES, call } from './invoke.ts';

export type BuiltInResult = { isError: boolean; result: unknown };

export const RESULT_CHARS = 20_000;

export function runnerFor(tools: readonly Tool[]) {
  const runner = createToolRunner(createRegistry(tools), {
    limits: { toolResult: RESULT_CHARS, toolTimeoutMs: 60_000 },
  });
  return async (
    name: string,
    input: Json,
    over: Partial<ToolInvocation> = {},
    signal = new AbortController().signal,
  ): Promise<BuiltInResult | null> => {
    const outcome = await runner.execute({ ...call(name, input), ...over }, signal, NO_SERVICES);
    if (outcome.kind === 'aborted') return null;
    const { content, is_error: isError } = outcome;
    if (typeof content !== 'string') throw new Error('A built-in tool returns text.');
    expect(content.length).toBeLessThanOrEqual(RESULT_CHARS);
    return { isError, result: JSON.parse(content) };
  };
}

export const refusedWith = (code: string, more: Record<string, unknown> = {}) => ({
  isError: true,
  result: { error: { code, message: expect.any(String) }, ...more },
});

export async function temporaryFolder(): Promise<{ path: string; remove(): Promise<void> }> {
  const made = await realpath(await folder());
  return { path: made, remove: () => rm(made, { recursive: true, force: true }) };
}
