// Plans in place of results: how much a query reads.
import { sql, type SQL } from 'drizzle-orm';
import type { Executor } from '../../src/db/connection/client.ts';

/** Explains its statements, returns no rows, and keeps the plans. */
export function explaining<E extends Executor>(executor: E, plans: string[]): E {
  return explainingWith(executor, plans, sql`analyze, costs off, timing off`);
}

/** With costs: only such a plan says whether it was compiled by JIT. */
export function explainingJit<E extends Executor>(executor: E, plans: string[]): E {
  return explainingWith(executor, plans, sql`analyze, timing off`);
}

/** With the blocks that were read. */
export function explainingBuffers<E extends Executor>(executor: E, plans: string[]): E {
  return explainingWith(executor, plans, sql`analyze, buffers, costs off, timing off`);
}

function explainingWith<E extends Executor>(executor: E, plans: string[], options: SQL): E {
  const explain = async (query: SQL): Promise<unknown[]> => {
    const plan = await executor.execute<{ 'QUERY PLAN': string }>(sql`explain (${options}) ${query}`);
    plans.push(plan.map((row) => row['QUERY PLAN']).join('\n'));
    return [];
  };
  return new Proxy(executor, {
    get: (target, name) => (name === 'execute' ? explain : Reflect.get(target, name)),
  });
}

/** Rows that were read and not used. */
export function passedOver(plan: string): number {
  const counts = [...plan.matchAll(/Rows Removed by (?:Join )?Filter: (\d+)/g)];
  return counts.reduce((sum, [, rows]) => sum + Number(rows), 0);
}
