/**
 * The durable steps of calls in memory; what tools start, which is recorded and does not run, since a test has one context;
 * and the transaction that the test gives, which the test ends.
 */
import type { Refusal } from '../../core/errors.ts';
import type { ContextId, JobId, MessageId, ToolCallId, WorkerId } from '../../core/ids.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Started } from '../../core/tools/starts.ts';
import type { StoredStep } from '../../core/tools/steps.ts';
import type { CallServices, ToolInvocation } from '../../core/tools/tool.ts';
import { TransactionRefused, type CallTransaction, type ToolTransaction } from '../../core/tools/transaction.ts';
import { ids } from '../../platform/ids.ts';

/** What a tool started with `context.spawn` or `context.enqueue`, under the name of its step. */
export type StartedWork = {
  /** The name of the tool. */
  tool: string;
  /** Whether it created a worker or queued an input. */
  kind: 'spawn' | 'enqueue';
  /** The name of the step. */
  step: string;
  /** The task of the worker, or the input. */
  input: string;
  /** Of a spawned worker; null: it has none. */
  role: string | null;
  /** To which the input was queued; of a spawned worker, its own. */
  context_id: string;
};

/**
 * `roles`: those that a spawned worker may have; null: any, since the test has no config. `tx`: that of transactional tools;
 * null: the test gives none.
 */
export class MemoryDurable {
  readonly #roles: ReadonlySet<string> | null;
  readonly #transaction: CallTransaction;
  readonly started: StartedWork[] = [];
  readonly #steps = new Map<ToolCallId, Map<string, StoredStep>>();

  constructor(roles: ReadonlySet<string> | null, tx: ToolTransaction | null) {
    this.#roles = roles;
    this.#transaction = transactionOn(tx);
  }

  open({ id, name: tool }: Pick<ToolInvocation, 'id' | 'name'>): Omit<CallServices, 'report'> {
    const steps = this.#steps.get(id) ?? new Map<string, StoredStep>();
    this.#steps.set(id, steps);
    const keep = (step: string, value: JsonObject, work: Omit<StartedWork, 'tool' | 'step'>): Started => {
      steps.set(step, { value, bytes: Buffer.byteLength(JSON.stringify(value)) });
      this.started.push({ tool, step, ...work });
      return { kind: 'done', value };
    };
    return {
      transaction: this.#transaction,
      steps: {
        load: async () => new Map(steps),
        store: async ({ name, value, bytes }) => {
          const kept = steps.get(name) ?? { value, bytes };
          steps.set(name, kept);
          return { value: kept.value };
        },
      },
      starts: {
        enqueue: async (step, { contextId: context_id, input }) => {
          const value = { context_id, job_id: ids.next<JobId>(), message_id: ids.next<MessageId>() };
          return keep(step, value, { kind: 'enqueue', input, role: null, context_id });
        },
        spawn: async (step, { input, role }) => {
          if (role !== null && this.#roles?.has(role) === false) return unknownRole(role);
          const context_id = ids.next<ContextId>();
          const value = { worker_id: ids.next<WorkerId>(), context_id, job_id: ids.next<JobId>() };
          return keep(step, value, { kind: 'spawn', input, role: role ?? null, context_id });
        },
      },
    };
  }
}

function transactionOn(tx: ToolTransaction | null): CallTransaction {
  return {
    run: async (work, { signal }) => {
      if (tx === null)
        throw new TransactionRefused(
          'unavailable',
          'A test has no database. Give a transaction to this transactional tool (the option tx), or a stand-in for it.',
        );
      const result = await work(tx);
      return signal.aborted ? null : result;
    },
  };
}

function unknownRole(role: string): Refusal {
  return { kind: 'refused', code: 'unknown_role', message: `No role has the name ${JSON.stringify(role)}.` };
}
