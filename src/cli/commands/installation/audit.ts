/** `audit`: lists the audit log of the tenant; with the admin key, that of the installation. */
import type { Command } from 'commander';
import type { AuditEntry, Operations } from '../../../client/index.ts';
import { apiCommand, carryOut, type Cli, type Common } from '../../cli.ts';
import { pageSize, printList, type List } from '../../list.ts';
import { given, instant, wholeNumber } from '../../values.ts';

type Query = Operations['GET /api/audit']['query'];
type Options = Common & Pick<Query, 'actor' | 'action' | 'target'> & { since?: string; until?: string; limit: number };

export function auditCommand(cli: Cli): Command {
  return apiCommand('audit', 'list who changed access, settings or data, and who decided on calls', [
    'nightshift audit --since 1d',
    'nightshift audit --action key.created',
    'nightshift audit --target 0199… --json',
  ])
    .option('--actor <id>', 'only acts of this key, token or user')
    .option('--action <name>', 'only this action, as key.created')
    .option('--target <id>', 'only what was done to this')
    .option('--since <time>', 'only entries since then: a timestamp, or a time before now', instant(-1))
    .option('--until <time>', 'only entries before then', instant(-1))
    .option('-n, --limit <number>', 'how many', wholeNumber(1, 10_000), 50)
    .action(({ actor, action, target, since, until, limit, ...common }: Options) =>
      carryOut(cli, common, async (client) => {
        const query = given({ actor, action, target, after: since, before: until });
        const entries = client.audit.list({ ...query, limit: pageSize(limit) });
        await printList(cli, { ...common, limit }, entries, { ...LIST, filtered: true });
      }),
    );
}

function actorText({ actor }: AuditEntry): string {
  const { kind, id, user, on_behalf_of: other } = actor;
  const who = user ?? id;
  const shown = who === null ? kind : `${kind} ${who}`;
  return other === null ? shown : `${shown} for ${other}`;
}

const LIST: List<AuditEntry> = {
  none: 'No entries.',
  columns: [
    { title: 'AT', cell: ({ at }) => at },
    { title: 'ACTION', cell: ({ action }) => action },
    { title: 'TARGET', cell: ({ target }) => target, isId: true },
    { title: 'BY', cell: actorText },
    { title: 'DETAIL', cell: ({ detail }) => JSON.stringify(detail) },
  ],
};
