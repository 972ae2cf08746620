// What a sound service has done: a sale that committed and one that failed, a call whose second step ran twice, an order
// that is a job, and one that was rolled back. How it is broken, and part of the expected violation.
import { ids } from '../../../src/platform/ids.ts';
import type { JobId, MessageId } from '../../../src/core/ids.ts';
import { plainScript } from '../clients/inputs.ts';
import { TOUR_LINES } from '../service-tools.ts';
import { storedJob } from './builders.ts';
import type { Order, Service } from './service.ts';
import type { World } from './world.ts';

const { begin, ran, got } = TOUR_LINES;

/** `jobId`: of a job of the small world. */
export function soundService(jobId: string): Service {
  return {
    sales: {
      rows: ['sale'],
      calls: [
        { id: 'sale', contextId: 'c', status: 'completed', fails: false, reported: true },
        { id: 'refused', contextId: 'c', status: 'failed', fails: true, reported: true },
      ],
    },
    tours: [
      {
        id: 'tour',
        contextId: 'c',
        status: 'completed',
        lines: [
          begin('1'),
          ran('pack', '1'),
          got('pack', '1', '1'),
          ran('walk', '1'),
          begin('2'),
          got('pack', '2', '1'),
          ran('walk', '2'),
          got('walk', '2', '2'),
          ran('rest', '2'),
          got('rest', '2', '2'),
          'effect',
        ],
        stored: { pack: '1', walk: '2', rest: '2' },
      },
    ],
    orders: {
      made: [orderOf(jobId, false), orderOf('rolled-back', true)],
      committed: [jobId],
      left: [],
      receipts: 0,
      submissions: [],
      relayedMs: 1_000,
    },
  };
}

function orderOf(jobId: string, isRolledBack: boolean): Order {
  return {
    jobId: jobId as JobId,
    messageId: ids.next<MessageId>(),
    contextId: 'c',
    tag: jobId,
    script: plainScript(jobId),
    isOwn: true,
    isRolledBack,
  };
}

type Sound = { world: World };
type Ways = readonly [string, (sound: Sound) => void, RegExp][];

const sale = ({ world }: Sound, more: object): void => void Object.assign(world.service.sales.calls[0] ?? {}, more);
const tour = ({ world }: Sound, change: (lines: string[]) => string[]): void => {
  for (const one of world.service.tours) one.lines = change(one.lines);
};
const orders = ({ world }: Sound, more: object): void => void Object.assign(world.service.orders, more);
const refused = (code: string) => ({ submissions: [{ id: 'job-1', status: 'failed', code }] });

export const BROKEN_SERVICE: Readonly<Record<'transactions' | 'steps' | 'outbox', Ways>> = {
  transactions: [
    ['no call committed', ({ world }) => void world.service.sales.rows.pop(), /no transactional call committed/],
    ['a call that is done has no row', ({ world }) => void world.service.sales.rows.pop(), /completed, and has 0 rows/],
    ['it has two', ({ world }) => void world.service.sales.rows.push('sale'), /completed, and has 2 rows/],
    ['it is recorded as not run', (sound) => sale(sound, { status: 'cancelled' }), /cancelled, and has 1 rows/],
    ['a call that failed has a row', ({ world }) => void world.service.sales.rows.push('refused'), /failed, and has 1/],
    ['a failure committed', (sound) => sale(sound, { fails: true }), /has failed, and has a row/],
    ['its result is nowhere', (sound) => sale(sound, { reported: false }), /neither a result nor a note/],
    ['a row is of no call', ({ world }) => void world.service.sales.rows.push('x'), /a row of no call/],
  ],
  steps: [
    ['no call completed', ({ world }) => void world.service.tours.pop(), /no call with steps completed/],
    ['a step is not stored', ({ world }) => stored(world, { walk: undefined }), /walk has no stored result/],
    ['a step never ran', (sound) => tour(sound, without(ran('rest', '2'))), /rest is of no execution/],
    [
      'a stored step runs again',
      (sound) => tour(sound, (lines) => [...lines, begin('3'), ran('rest', '3')]),
      /rest ran again/,
    ],
    [
      'a call gets another result',
      ({ world }) => stored(world, { walk: '1' }),
      /another result of walk than is stored/,
    ],
  ],
  outbox: [
    ['nothing was committed', (sound) => orders(sound, { committed: [] }), /no row was committed/],
    ['nothing was rolled back', ({ world }) => void world.service.orders.made.pop(), /no row was rolled back/],
    [
      'a row is left',
      (sound) => orders(sound, { left: [{ job_id: 'x', code: null }] }),
      /left in the outbox \(waiting/,
    ],
    ['a row is refused', (sound) => orders(sound, { left: [{ job_id: 'x', code: 'not_found' }] }), /\(not_found\)/],
    ['a receipt is left', (sound) => orders(sound, { receipts: 1 }), /1 receipts are left/],
    ['a row comes late', (sound) => orders(sound, { relayedMs: 60_001 }), /60001 ms after the last fault/],
    ['rows never come', (sound) => orders(sound, { relayedMs: null }), /still in the outbox when the time is up/],
    ['a committed row is lost', ({ world }) => void world.jobs.shift(), /a committed row is lost/],
    [
      'a row that was rolled back becomes a job',
      ({ world }) => void world.jobs.push(storedJob('rolled-back', 'm', 9, {})),
      /not committed was relayed/,
    ],
    ['a rollback commits', (sound) => orders(sound, { committed: ['job-1', 'rolled-back'] }), /and has committed/],
    ['a row becomes no job', (sound) => orders(sound, refused('not_found')), /became no job: not_found/],
    ['a row is there twice', (sound) => orders(sound, refused('worker_stopped')), /a job and a submission/],
    [
      'rows change places',
      ({ world: { service } }) => {
        service.orders.made.unshift(orderOf('job-2', false));
        service.orders.committed.push('job-2');
      },
      /overtook an earlier one/,
    ],
  ],
};

function without(line: string): (lines: string[]) => string[] {
  return (lines) => lines.filter((one) => one !== line);
}

function stored({ service }: World, more: object): void {
  for (const one of service.tours) one.stored = { ...one.stored, ...more };
}
