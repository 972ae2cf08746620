// The types of `contexts.run` in functions around it.
import { expectTypeOf, test } from 'vitest';
import type { Client, JobOf, Json, RunOptions } from '../../src/client/index.ts';

test('RunOptions fits contexts.run', () => {
  const run = (client: Client, id: string, options: RunOptions) => client.contexts.run(id, options);
  expectTypeOf(run).returns.resolves.toEqualTypeOf<JobOf<Json>>();
});
