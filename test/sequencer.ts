// The order of test files: what mostly waits begins first, so that the rest of its group runs beside it.
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const WAITING = ['test/dev/embedded-postgres.test.ts'];

export default class Sequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isWaiting = ({ moduleId }: TestSpecification): boolean => WAITING.some((file) => moduleId.endsWith(file));
    return [...sorted.filter(isWaiting), ...sorted.filter((file) => !isWaiting(file))];
  }
}
