/** CPU seconds of each process that takes part in a run. */
import type { Services } from '../services.ts';
import { cpuSeconds } from '../usage.ts';

/** NaN: unknown. */
export type ProcessCpu = Record<'api' | 'worker' | 'postgres' | 'redis' | 'provider' | 'load', number>;

type Own = Exclude<keyof ProcessCpu, 'postgres' | 'redis'>;

/** So far. */
export async function readCpu(services: Services, own: Record<Own, { pid: number }>): Promise<ProcessCpu> {
  const { postgres, redis } = (await services.cpuSeconds()) ?? { postgres: Number.NaN, redis: Number.NaN };
  const of = (name: Own): number => cpuSeconds(own[name].pid);
  return { api: of('api'), worker: of('worker'), postgres, redis, provider: of('provider'), load: of('load') };
}

/** CPU seconds per 1,000 steps between two readings. */
export function cpuPerStep(before: ProcessCpu, after: ProcessCpu, steps: number): ProcessCpu {
  const of = (name: keyof ProcessCpu): number => ((after[name] - before[name]) / steps) * 1_000;
  return {
    api: of('api'),
    worker: of('worker'),
    postgres: of('postgres'),
    redis: of('redis'),
    provider: of('provider'),
    load: of('load'),
  };
}

/** Of the system: without the model and the clients. */
export function systemCpu({ api, worker, postgres, redis }: ProcessCpu): number {
  return api + worker + postgres + redis;
}

export function allCpu(cpu: ProcessCpu): number {
  return systemCpu(cpu) + cpu.provider + cpu.load;
}
