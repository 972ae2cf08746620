// The test kit: scripted models, runs of tools and roles, replays.
import {
  TestKitError,
  matchers,
  replay,
  runRole,
  runTool,
  simulatedModel,
  type RoleRun,
  type SimulatedStep,
  type ToolRun,
} from 'nightshift/testing';
import { whole } from './config.ts';

export async function tool(): Promise<string> {
  const run: ToolRun = await runTool(whole, { n: 2 }, { context: { tenant: 'acme', user: null, metadata: { a: 1 } } });
  // @ts-expect-error: what a tool returned can be anything
  const output: string = run.output;
  // @ts-expect-error: an input is JSON
  await runTool(whole, new Map());
  return run.error ?? run.log[0]?.message ?? output;
}

export async function role(): Promise<number> {
  const steps: SimulatedStep[] = [
    { calls: [{ tool: 'double', input: { n: 2 } }], usage: { input_tokens: 10 } },
    ({ messages }) => `There are ${messages.length} messages.`,
    { fail: 'overloaded', retry_after_s: 1 },
  ];
  const model = simulatedModel(steps);
  const run: RoleRun = await runRole(whole, {
    role: 'clerk',
    input: ['one', 'two'],
    model,
    approve: ({ tool: name }) => (name === 'double' ? 'approve' : { reject: 'Not now.' }),
    answer: ({ question }) => question ?? { content: 'shown', is_error: false },
    standIns: { double: () => 4 },
  });
  // @ts-expect-error: a failure that does not exist
  simulatedModel([{ fail: 'tired' }]);
  // @ts-expect-error: a run has an input
  await runRole(whole, { role: 'clerk' });
  const again = await replay({}, whole, { worker: { system_prompt: 'Be brief.' } });
  return matchers.toHaveFinished(run).pass && run.status === 'completed' ? model.left : JSON.stringify(again).length;
}

export const isOfKit = (error: unknown): boolean => error instanceof TestKitError && error.code === 'unknown_role';
