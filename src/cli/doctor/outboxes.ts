/** Checks the outboxes of the config file. */
import { outboxStatus, withOutbox } from '../../db/outbox/install.ts';
import { OUTBOX_VERSION } from '../../db/outbox/outbox-schema.ts';
import type { ConfigFile } from '../../tools/config/config-file.ts';
import { formatDuration } from '../terminal/time.ts';
import { fail, ok, warn, why, type Finding } from './finding.ts';

/** A row that waits longer is not relayed. */
const LATE_MS = 60_000;

type Outbox = { outbox: string; url: string; schema: string };

/** `databaseSchema`: of those that name none. */
export async function outboxFindings(outboxes: ConfigFile['outboxes'], databaseSchema: string): Promise<Finding[]> {
  const findings = [...outboxes].map(([outbox, { url, schema }]) =>
    outboxFinding({ outbox, url, schema: schema ?? databaseSchema }),
  );
  return Promise.all(findings);
}

async function outboxFinding({ outbox, url, schema }: Outbox): Promise<Finding> {
  const name = `outbox ${outbox}`;
  try {
    const status = await withOutbox(url, schema, (database) => outboxStatus(database, schema));
    switch (status.kind) {
      case 'none':
        return fail(name, `no outbox in the schema ${schema}`, 'Run `nightshift outbox install`.');
      case 'not_granted':
        return notGranted(name, schema);
      case 'other_version':
        return fail(
          name,
          `version ${status.version}`,
          status.version > OUTBOX_VERSION ? 'Upgrade Nightshift.' : 'Run `nightshift outbox install`.',
        );
      case 'installed': {
        if (!status.mayRelay) return notGranted(name, schema);
        const { waiting, oldestMs, refused } = status.backlog;
        if (oldestMs !== null && oldestMs > LATE_MS) {
          const advice = 'Check that worker processes run, their log, and that no tenant of these rows is suspended.';
          return warn(name, `${waitingText(waiting)}, the oldest since ${formatDuration(oldestMs)}`, advice);
        }
        if (refused > 0)
          return warn(
            name,
            refused === 1 ? '1 row was refused' : `${refused} rows were refused`,
            'Run `nightshift outbox status` to see why.',
          );
        return ok(name, waitingText(waiting));
      }
    }
  } catch (error) {
    const advice = `Check that the database is running, and outboxes.${outbox}.url in the config file.`;
    return fail(name, `connection failed: ${why(error)}`, advice);
  }
}

function notGranted(name: string, schema: string): Finding {
  return fail(
    name,
    `the login may not relay the outbox in the schema ${schema}`,
    'Run `nightshift outbox install … --relay <login>`.',
  );
}

function waitingText(rows: number): string {
  return rows === 1 ? '1 row waits' : `${rows} rows wait`;
}
