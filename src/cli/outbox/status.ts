/** What waits in an outbox, as text. */
import type { OutboxStatus } from '../../db/outbox/install.ts';
import { MOST_COUNTED } from '../../db/outbox/outbox-state.ts';
import { formatDuration } from '../terminal/time.ts';
import { oneLine } from '../terminal/safe.ts';

/** The first line stands after the name of the outbox, or alone. */
export function backlogLines(status: OutboxStatus): string {
  switch (status.kind) {
    case 'none':
      return 'not installed';
    case 'not_granted':
      return 'the login may not read it. `nightshift outbox install … --relay <login>` lets it relay';
    case 'other_version':
      return `version ${status.version}, which this version cannot read`;
    case 'installed': {
      const { waiting, oldestMs, refused } = status.backlog;
      const age = oldestMs === null ? '' : `, the oldest since ${formatDuration(oldestMs)}`;
      const rows = status.refused.map(
        ({ jobId, tenant, code, message }) => `\n  ${[jobId, tenant, code, message].map(oneLine).join('\t')}`,
      );
      return `${counted(waiting)} waiting${age}; ${counted(refused)} refused${rows.join('')}`;
    }
  }
}

function counted(rows: number): string {
  return rows === MOST_COUNTED ? `${rows} or more` : String(rows);
}
