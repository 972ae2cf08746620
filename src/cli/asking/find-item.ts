/** What waits for a person, by the id of its call. */
import type { Client, InboxItem } from '../../client/index.ts';
import { CommandError, EXIT } from '../exit.ts';

export async function findItem(client: Client, callId: string, kind: InboxItem['kind']): Promise<InboxItem> {
  for await (const item of client.approvals.list({ limit: 200 })) {
    if (item.tool_call_id !== callId) continue;
    if (item.kind === kind) return item;
    throw new CommandError(EXIT.failed, `The call ${callId} waits for something else: ${commandOf(item)}.`);
  }
  throw new CommandError(
    EXIT.failed,
    `No call ${callId} waits for a person: nightshift inbox shows what does.`,
  );
}

function commandOf({ kind }: InboxItem): string {
  switch (kind) {
    case 'approval':
      return 'nightshift approve, or deny';
    case 'input':
      return 'nightshift answer';
    case 'unknown_outcome':
      return 'nightshift resolve';
  }
}
