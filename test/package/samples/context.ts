// What tools get beside their input, and what approvals and reconciliations say.
import {
  defineTool,
  type CallLog,
  type EnqueuedInput,
  type Json,
  type Reconciliation,
  type SpawnedWorker,
  type ToolContext,
} from 'nightshift';
import { z } from 'zod';

export const pay = defineTool({
  name: 'pay',
  description: 'Pays an order.',
  input: z.object({ order: z.string(), on: z.iso.date().transform((text) => new Date(text)) }),
  effect: 'once',
  // The input is that which the schema makes.
  approval: ({ input, worker }) => (input.on.getTime() > 0 && worker.role === 'clerk' ? 'never' : 'always'),
  reconcile: async ({ input, idempotency_key }): Promise<Reconciliation> =>
    idempotency_key === input.order ? { outcome: 'happened', result: { paid: true } } : { outcome: 'unknown' },
  async execute({ order, on }, { step, spawn, enqueue, log, progress, signal, tenant, metadata }) {
    const log2: CallLog = log;
    log2.info('pays', { order, tenant });
    progress({ message: 'pays', done: 1, total: 2 });
    progress('paid');
    // What was stored as JSON: a date is a text then.
    const paid = await step('pay', ({ idempotency_key }) => ({ order, on, key: idempotency_key }));
    const day: string = paid.on;
    // @ts-expect-error: it is no date any more
    const date: Date = paid.on;
    const nothing: null = await step('nothing', async () => undefined);
    const worker: SpawnedWorker = await spawn('research', { input: order, role: 'research', tools: ['search'] });
    const queued: EnqueuedInput = await enqueue('tell', { context_id: worker.context_id, input: 'done', priority: 1 });
    // @ts-expect-error: an input has a context
    await enqueue('tell', { input: 'done' });
    const all: Json = metadata;
    return { day, date, nothing, job: queued.job_id, aborted: signal.aborted, all };
  },
});

export const facts = (context: ToolContext): (string | null)[] => [
  context.tenant,
  context.user,
  context.worker.name,
  context.worker.role,
  context.job_id,
  context.traceparent,
];

const twice = {
  name: 'twice',
  description: 'Wrong.',
  input: z.object({}),
  effect: 'twice',
  execute: () => null,
} as const;
// @ts-expect-error: an effect is none, idempotent or once
defineTool(twice);
