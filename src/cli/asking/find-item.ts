/** Finds an inbox item by the id of its tool call, or by a part of it. */
import type { Client, InboxItem } from '../../client/index.ts';
import { CommandError, EXIT } from '../exit.ts';
import { isId } from '../find/ids.ts';
import { PAGE, pickRow, type Kind } from '../find/pick.ts';
import { titleOf } from './item.ts';

export async function findItem(client: Client, named: string, kind: InboxItem['kind']): Promise<InboxItem> {
  const item = isId(named) ? await itemWithId(client, named) : await pickRow(named, inboxOf(client));
  if (item.kind === kind) return item;
  throw new CommandError(EXIT.failed, `The call ${item.tool_call_id} needs another command: ${commandOf(item)}.`);
}

async function itemWithId(client: Client, callId: string): Promise<InboxItem> {
  for await (const item of client.approvals.list({ limit: PAGE })) if (item.tool_call_id === callId) return item;
  throw new CommandError(
    EXIT.failed,
    `No call with the id ${callId} waits for a person. Run nightshift inbox to list the calls that wait.`,
  );
}

function inboxOf(client: Client): Kind<InboxItem> {
  return {
    one: 'waiting call',
    where: 'the 1,000 calls that wait longest',
    lists: '`nightshift inbox --json`',
    rows: () => client.approvals.list({ limit: PAGE }),
    idOf: ({ tool_call_id }) => tool_call_id,
    about: titleOf,
  };
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
