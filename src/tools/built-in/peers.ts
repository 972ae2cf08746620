/** Tools for communication between the workers of a tree: list workers, send a message, stop a worker. */
import type { TraceParent } from '../../core/tracing/trace-parent.ts';
import type { Refusal } from '../../core/errors.ts';
import type { ContextId, JobId, TenantId, ToolCallId } from '../../core/ids.ts';
import type { Json } from '../../core/json.ts';
import { ToolFault } from '../run/tool-fault.ts';
import type { Tool } from '../registry/tool.ts';
import { builtIn, textIn, type BuiltInCall } from './built-in.ts';

export const PEER_TOOLS = ['send_message', 'list_workers', 'stop_worker'] as const;

/** The tool call. The platform finds the calling worker by its context. */
export type Sender = {
  tenantId: TenantId;
  contextId: ContextId;
  jobId: JobId;
  toolCallId: ToolCallId;
  traceParent: TraceParent | null;
};

type Answered = { kind: 'done'; value: Json } | Refusal;

/** Access to the other workers of the caller's tenant and tree. Every method is safe to repeat for the same call. */
export type Peers = {
  send(sender: Sender, to: string, content: string): Promise<Answered>;
  list(sender: Sender): Promise<Answered>;
  stop(sender: Sender, workerId: string): Promise<Answered>;
};

const WORKER_ID = { type: 'string', minLength: 1, maxLength: 100 };

export function peerTools(peers: Peers): Tool[] {
  return [
    builtIn({
      name: 'send_message',
      description:
        'Sends a message to another worker of your tree, which answers as soon as it can. The answer of a worker that descends from you is sent to you as a message.',
      properties: {
        worker_id: WORKER_ID,
        content: { type: 'string', minLength: 1, maxLength: 1_000_000 },
      },
      required: ['worker_id', 'content'],
      effect: 'idempotent',
      execute: async (input, call) =>
        valueOf(await peers.send(senderOf(call), textIn(input, 'worker_id'), textIn(input, 'content'))),
    }),
    builtIn({
      name: 'list_workers',
      description: 'Lists your descendant workers with what each is doing, and your parent worker.',
      properties: {},
      required: [],
      effect: 'none',
      execute: async (_, call) => valueOf(await peers.list(senderOf(call))),
    }),
    builtIn({
      name: 'stop_worker',
      description:
        'Stops one of your descendant workers and all its descendants: their jobs are cancelled, and they accept no more messages.',
      properties: { worker_id: WORKER_ID },
      required: ['worker_id'],
      effect: 'idempotent',
      execute: async (input, call) => valueOf(await peers.stop(senderOf(call), textIn(input, 'worker_id'))),
    }),
  ];
}

function senderOf({ tenantId, contextId, jobId, id, traceParent }: BuiltInCall): Sender {
  return { tenantId, contextId, jobId, toolCallId: id, traceParent };
}

function valueOf(answered: Answered): Json {
  if (answered.kind === 'done') return answered.value;
  throw new ToolFault(answered.code, answered.message);
}
