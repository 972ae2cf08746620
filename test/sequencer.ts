// The order of test files: the longest of each group begin first, so that none is left over at its end. Vitest itself
// orders by the durations of the last run, which a fresh clone does not have.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const LONGEST = [
  'dev/embedded-postgres',
  'llm/conformance',
  'workers/conversations/conversations',
  'db/interleaving/broken-laws',
  'db/interleaving/interleavings',
  'workers/tree/spawn',
  'db/connection/cuts',
  'mcp/server',
  'events/stream',
  'workers/run/interrupt',
  'services/own-services',
  'mcp/prompts',
  'e2e/crash/crash',
  'e2e/outages/outages-postgres',
  'e2e/outages/outages-processes',
  'e2e/outages/drain',
  'e2e/outages/outages-redis',
  'e2e/chaos',
  'console/chat',
  'console/inbox',
  'console/restarts',
  'console/work',
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
