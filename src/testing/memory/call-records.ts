/** The tool calls of a context, also those that have ended. */
import type { ToolCallId } from '../../core/ids.ts';
import type { Json } from '../../core/json.ts';
import type { Append, CallChange } from '../../core/run/append.ts';
import type { CallStatus, OpenCall } from '../../core/tools/tool-call.ts';

/** `approvedInput`: what the person who approved the call wrote in place of its input; null: nothing. */
export type CallRecord = { id: ToolCallId; name: string; status: CallStatus; approvedInput: Json };

export class CallRecords {
  readonly #byId = new Map<ToolCallId, CallRecord>();

  /** In the order in which they were requested. */
  get all(): readonly CallRecord[] {
    return [...this.#byId.values()];
  }

  /** `open`: the open calls before the append. */
  add({ calls }: Append, open: readonly OpenCall[]): void {
    for (const change of calls) this.#add(change, open);
  }

  #add(change: CallChange, open: readonly OpenCall[]): void {
    if (change.kind === 'request') {
      const { id, name } = change.call;
      this.#byId.set(id, { id, name, status: change.wait === null ? 'pending' : 'waiting', approvedInput: null });
      return;
    }
    const known = this.#byId.get(change.id);
    if (known === undefined) return;
    const approvedInput = open.find(({ id }) => id === change.id)?.approval?.input ?? known.approvedInput;
    this.#byId.set(change.id, { ...known, status: statusAfter(change), approvedInput });
  }
}

function statusAfter(change: Exclude<CallChange, { kind: 'request' }>): CallStatus {
  switch (change.kind) {
    case 'wait':
      return 'waiting';
    case 'approve':
    case 'reopen':
      return 'pending';
    case 'start':
      return 'started';
    case 'close':
      return change.status;
  }
}
