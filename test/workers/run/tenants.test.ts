// A run knows the name of its tenant from the claim: its log shows it, and its tools get it, with the role of the worker.
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { submitInput } from '../../../src/commands/inputs/submit-input.ts';
import { createWorker } from '../../../src/commands/workers/create-worker.ts';
import type { ToolInvocation } from '../../../src/core/tools/tool.ts';
import type { User } from '../../../src/core/access/user.ts';
import { ensureTenant } from '../../../src/db/write/tenants/tenants.ts';
import { postedInput } from '../../db/inputs.ts';
import { result, says, startFleet } from '../worker-fleet.ts';

test('the log and the tools of a run have the name of its tenant, and its tools for whom they run', async () => {
  const lines: Record<string, unknown>[] = [];
  const calls: ToolInvocation[] = [];
  const answers = [says('', { name: 'look', input: {} }), says('done')];
  const fleet = await startFleet({
    model: () => answers.shift() ?? says('no more'),
    tools: {
      look: {
        execute(call) {
          calls.push(call);
          return result('seen');
        },
      },
    },
    log: pino({ level: 'debug' }, { write: (line: string) => void lines.push(JSON.parse(line)) }),
  });
  onTestFinished(() => fleet.close());
  const tenantId = await ensureTenant(fleet.database.db, 'acme');
  const worker = {
    tenantId,
    user: 'ann' as User,
    name: 'w',
    title: null,
    role: { name: 'support', version: null },
    config: {},
    parentWorkerId: null,
  };
  const { contextId } = await fleet.perform(createWorker(fleet.ports, worker));
  const input = { ...postedInput(), tenantId, contextId };
  const { jobId } = await fleet.perform(submitInput(fleet.ports, input));
  await fleet.until(() => lines.some(({ msg, job_id: id }) => msg === 'job ended' && id === jobId));
  expect(calls).toMatchObject([
    { tenantId, tenantName: 'acme', user: 'ann', workerName: 'w', role: 'support', attempt: 1 },
  ]);
  for (const msg of ['step', 'job ended'])
    expect(lines).toContainEqual(expect.objectContaining({ msg, tenant: 'acme', context_id: contextId }));
});
