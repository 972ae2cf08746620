// Random requests over the whole OpenAPI document. None is answered with 5xx, with a status or a body that the document
// does not have, or not at all. NIGHTSHIFT_SEED plays one seed alone.
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { depth, seedsOf } from '../../services/depth.ts';
import { openApi, type Api } from '../harness.ts';
import { operationsOf, type Described } from './document.ts';
import { KnownRows } from './known.ts';
import type { Arbitrary } from 'fast-check';
import { requestsOf, resolve, type Planned } from './requests.ts';
import { KEYS, SECRET, stock, type Credentials } from './rows.ts';
import { curlOf, openSender, type Sender } from './send.ts';

/** Of one seed: about 300 requests. */
const SEQUENCES = 100;
const LONGEST_SEQUENCE = 5;
/** The tenant of the fuzzer is neither suspended nor deleted. */
const OWN_TENANT = /^\/api\/tenants\/default(?![\w.-])/;
const seeds = seedsOf(8, 96, 'NIGHTSHIFT_FUZZ_SEEDS');

let api: Api;
let sender: Sender;
let sequences: Arbitrary<readonly Planned[]>;
const statuses = new Map<number, number>();
const reached = new Set<string>();
beforeAll(async () => {
  api = await openApi({
    NIGHTSHIFT_API_KEYS: `${KEYS.full}:default,${KEYS.reader}:default:read`,
    NIGHTSHIFT_ADMIN_KEY: KEYS.admin,
    NIGHTSHIFT_SECRET_KEY: SECRET,
  });
  sender = await openSender(api);
  sequences = requestsOf(api.contract.document as unknown as Described, LONGEST_SEQUENCE);
});
afterAll(async () => {
  sender.close();
  await api.close();
});

test.each(seeds)('random requests get documented answers, seed %i', { timeout: 600_000 }, async (seed) => {
  const known = new KnownRows();
  const credentials = await stock(api, known, seed);
  const faults: string[] = [];
  const property = fc.asyncProperty(sequences, async (sequence) => {
    const fault = await play(sequence, known, credentials);
    if (fault === null) return true;
    faults.push(fault);
    return false;
  });
  // Each request that hangs costs its whole limit, also while the fault is made smaller.
  await fc.check(property, { seed, numRuns: SEQUENCES, interruptAfterTimeLimit: 300_000 });
  // Rows change meanwhile, so the smallest one may fail for another reason than the first.
  const [first] = faults;
  expect(first, `The smallest, with NIGHTSHIFT_SEED=${seed}:\n${faults.at(-1)}`).toBeUndefined();
  for (const path of ['/healthz', '/readyz']) expect((await api.get(path)).status).toBe(200);
});

/** Null: all answers are as they should be. */
async function play(sequence: readonly Planned[], known: KnownRows, credentials: Credentials): Promise<string | null> {
  const lines: string[] = [];
  for (const planned of sequence) {
    const sent = resolve(planned, known);
    if (OWN_TENANT.test(sent.url) && sent.method !== 'GET') continue;
    lines.push(curlOf(sent));
    try {
      const { status, body } = await sender.send(sent, credentials[sent.caller]);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      reached.add(sent.operation.operationId);
      if (status < 300) known.learn(sent.url, body);
    } catch (error) {
      return `${String(error)}\n${lines.join('\n')}`;
    }
  }
  return null;
}

test.skipIf(seeds.length < 8)('the requests reach every operation, and many are accepted', () => {
  const total = [...statuses.values()].reduce((sum, times) => sum + times, 0);
  const share = (from: number): number =>
    [...statuses].reduce((sum, [status, times]) => (Math.floor(status / 100) === from ? sum + times : sum), 0) / total;
  const table = [...statuses].sort(([one], [other]) => one - other).map(([status, times]) => `${times} of ${status}`);
  process.stdout.write(
    `${total} requests: ${table.join(', ')}. Never accepted: ${api.contract.unseen().join(', ')}.\n`,
  );
  expect(total).toBeGreaterThanOrEqual(depth(2_000, 30_000));
  const operations = operationsOf(api.contract.document as unknown as Described);
  expect(operations.length).toBeGreaterThan(80);
  expect(operations.filter(({ operationId }) => !reached.has(operationId))).toEqual([]);
  expect(share(2)).toBeGreaterThan(0.25);
  expect(share(4)).toBeGreaterThan(0.25);
});
