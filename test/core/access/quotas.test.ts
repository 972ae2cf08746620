import { describe, expect, test } from 'vitest';
import { MEGABYTE, countedFor, isOfContent, overQuota, type Addition } from '../../../src/core/access/quotas.ts';

const LIMITS = { queued_jobs: 2, workers: 3, stored_mb: 1 };
const NOTHING = { queuedJobs: 0, workers: 0, storedBytes: 0 };

describe('a tenant is counted', () => {
  test.each<[Addition, object | null]>([
    [{}, null],
    [{ queuedJobs: 0 }, null],
    [{ queuedJobs: 1 }, { queuedJobs: 2, workers: null, storedBytes: false }],
    [
      { workers: 1, storedBytes: 5 },
      { queuedJobs: null, workers: 3, storedBytes: true },
    ],
  ])('for %o up to %o', (adds, counted) => {
    expect(countedFor(LIMITS, adds)).toEqual(counted);
    expect(countedFor({}, adds)).toBeNull();
  });
});

describe('an addition is refused', () => {
  test.each<[Addition, object, string | undefined]>([
    [{ storedBytes: 1 }, { storedBytes: MEGABYTE - 1 }, undefined],
    [{ storedBytes: 2 }, { storedBytes: MEGABYTE - 1 }, 'stored_mb'],
    [{ queuedJobs: 1 }, { storedBytes: 2 * MEGABYTE, queuedJobs: 1 }, undefined],
    [{ queuedJobs: 1 }, { queuedJobs: 2 }, 'queued_jobs'],
    [{ workers: 1 }, { workers: 3 }, 'workers'],
  ])('%o beside %o: %s', (adds, used, param) => {
    expect(overQuota(LIMITS, { ...NOTHING, ...used }, adds)?.param).toBe(param);
    expect(overQuota({}, { ...NOTHING, ...used }, adds)).toBeNull();
  });

  test('because of its content before all else: an input that joins a job is refused for that too', () => {
    const used = { queuedJobs: 2, workers: 3, storedBytes: MEGABYTE };
    const both = overQuota(LIMITS, used, { queuedJobs: 1, workers: 1, storedBytes: 1 });
    expect([both?.param, both && isOfContent(both)]).toEqual(['stored_mb', true]);
    const jobs = overQuota(LIMITS, used, { queuedJobs: 1 });
    expect([jobs?.param, jobs && isOfContent(jobs)]).toEqual(['queued_jobs', false]);
  });
});
