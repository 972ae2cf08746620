/** Finds an inbox item by the id of its tool call. */
import type { Client, InboxItem } from '../../client/index.ts';
import { CommandError, EXIT } from '../exit.ts';

export async function findItem(client: Client, callId: string, kind: InboxItem['kind']): Promise<InboxItem> {
  for await (const item of client.approvals.list({ limit: 200 })) {
    if (item.tool_call_id !== callId) continue;
    if (item.kind === kind) return item;
    throw new CommandError(EXIT.failed, `The call ${callId} needs another command: ${commandOf(item)}.`);
  }
  throw new CommandError(
    EXIT.failed,
    `No call with the id ${callId} waits for a person. Run nightshift inbox to list the calls that wait.`,
  );
}

function commandOf({ kind }: InboxItem): string {
  switch (kind) {
    case 'approval':
      return 'nightshift approve or nightshift deny';
    case 'input':
      return 'nightshift answer';
    case 'unknown_outcome':
      return 'nightshift resolve';
  }
}
