// A service announces its submissions: worker processes do not wait for their next look.
import { sql } from 'drizzle-orm';
import { pino } from 'pino';
import { onTestFinished, test } from 'vitest';
import { submissionsDue } from '../../../src/bus/bus.ts';
import { localBus } from '../../../src/bus/local.ts';
import { DEFAULT_TENANT_NAME, type ProcessId } from '../../../src/core/ids.ts';
import { PEER_LIMITS } from '../../../src/core/workers/peer-limits.ts';
import { createWorkerMetrics } from '../../../src/workers/process/metrics/metrics.ts';
import { createScheduleRunner } from '../../../src/workers/scheduling/schedule-runner.ts';
import { ids } from '../../../src/platform/ids.ts';
import { given } from '../../db/database-fixture.ts';
import { until } from '../../e2e/rig/until.ts';
import { tagOf } from '../../services/statements.ts';
import { TIMES } from '../worker-ports.ts';
import { readParsed } from './read-parsed.ts';

const NEVER_MS = 3_600_000;

test('an announcement leads to a look, also if one is in progress', async () => {
  const the = await given();
  onTestFinished(() => the.close());
  let looks = 0;
  const database = the.open({ hook: (text) => void (tagOf(text) === 'submissions.find_due' && (looks += 1)) });
  const bus = localBus();
  const runner = createScheduleRunner(
    {
      ...the.ports(database),
      bus,
      ids,
      times: TIMES,
      peers: PEER_LIMITS,
      log: pino({ level: 'silent' }),
      metrics: createWorkerMetrics({ running: 0, capacity: 0 }, []),
      random: () => 0.5,
      identity: () => ids.next<ProcessId>(),
      scheduledRole: async () => ({ kind: 'role', role: null }),
      readSubmission: readParsed,
    },
    NEVER_MS,
  );
  await runner.subscribe();
  runner.start();
  onTestFinished(() => runner.stop());
  await until('the first look', () => looks > 0);
  for (let round = 0; round < 3; round += 1) {
    const id = ids.next();
    const worker = { worker_id: ids.next(), name: 'w', input: { content: 'go' } };
    const body = JSON.stringify({ job_id: id, message_id: ids.next(), context_id: ids.next(), ...worker });
    await the.database.db.execute(sql`select nightshift_submit_v1(${DEFAULT_TENANT_NAME}, ${body})`);
    bus.publish(submissionsDue(), {});
    await until('the job', async () => (await the.rows(`select 1 from jobs where id = '${id}'`)).length > 0);
  }
});
