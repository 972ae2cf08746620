// The order of test files: the longest of each group begin first, so that none is left over at its end. Vitest itself
// orders by the durations of the last run, which a fresh clone does not have.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const LONGEST = [
  'dev/embedded-postgres',
  'docs/code-blocks',
  'tools/config-file',
  'llm/conformance',
  'flakes/gate',
  'tools/escapes-command',
  'workers/webhooks/failures',
  'db/interleaving/interleavings',
  'events/stream',
  'workers/process/throttles',
  'db/connection/cuts',
  'workers/scheduling/slot-limits',
  'api/fuzz/fuzz',
  'api/oidc/sign-in',
  'workers/tree/spawn',
  'mcp/server',
  'embed/enqueue',
  'events/clients',
  'workers/conversations/conversations',
  'db/interleaving/broken-laws',
  'cli/doctor',
  'workers/process/tenant-lifecycle',
  'events/losses',
  'api/system/stored-limit',
  'db/run/frozen-sessions',
  'workers/scheduling/schedules',
  'db/schedules/simulated-year',
  'api/jobs/outcomes',
  'workers/scheduling/dispatcher',
  'workers/prompts/handover',
  'workers/run/interrupt',
  'services/own-services',
  'mcp/http',
  'mcp/prompts',
  'api/http/outage',
  'events/redis-outages',
  'e2e/crash/crash',
  'e2e/outages/outages-postgres',
  'e2e/outages/outages-processes',
  'e2e/chaos',
  'e2e/start/first-project',
  'e2e/start/readme',
  'e2e/outages/drain',
  'e2e/start/bootstrap',
  'e2e/outages/outages-redis',
  'e2e/outages/webhooks',
  'e2e/start/tour',
  'e2e/start/examples',
  'e2e/traces',
  'e2e/crash/outcomes',
  'console/chat',
  'console/inbox',
  'console/traffic',
  'console/restarts',
  'console/shell',
  'console/audit',
  'console/settings',
  'console/work',
  'console/access',
  'console/usage',
].map((name) => {
  const file = path.join(import.meta.dirname, `${name}.test.ts`);
  if (!existsSync(file)) throw new Error(`test/sequencer.ts names a file that does not exist: ${file}`);
  return file;
});

export default class Sequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean => LONGEST.includes(moduleId);
    const long = sorted.filter(isLong);
    long.sort((a, b) => LONGEST.indexOf(a.moduleId) - LONGEST.indexOf(b.moduleId));
    return [...long, ...sorted.filter((file) => !isLong(file))];
  }
}
