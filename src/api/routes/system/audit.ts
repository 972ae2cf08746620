/** The audit log of a tenant; for the operator, that of the installation. */
import type { AuditEntryId } from '../../../core/ids.ts';
import { listEntries } from '../../../db/write/audit.ts';
import { ref } from '../../../schema/build.ts';
import { cursorOf, id } from '../../request/cursor.ts';
import { parseInstant } from '../../request/instant.ts';
import { toListing } from '../../response/page.ts';
import { readerOf } from '../../response/reads.ts';
import { AuditEntryList, AuditQuery } from '../../schemas/system/audit.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { toAuditEntry } from '../../wire/system/audit-entry.ts';

const PLACE = cursorOf((value) => id<AuditEntryId>(value));

export function auditRoute(app: App, ports: ApiPorts): void {
  app.get(
    '/api/audit',
    {
      config: { access: 'keys_or_operator' },
      schema: {
        summary: 'The audit log, newest first: who changed access, settings or data, and who decided on calls',
        operationId: 'listAuditEntries',
        tags: ['system'],
        querystring: AuditQuery,
        response: { 200: ref(AuditEntryList) },
      },
    },
    async ({ tenantId, scopes, isOperator, query }, reply) => {
      const { actor = null, action = null, target = null, limit } = query;
      const filter = {
        tenantId: scopes === null ? null : tenantId,
        installation: isOperator,
        actor,
        action,
        target,
        from: parseInstant(query.after, 'after'),
        before: parseInstant(query.before, 'before'),
      };
      const [after] = PLACE.read(query.cursor) ?? [null];
      const read = readerOf(ports, reply);
      const items = await read((_, last) => listEntries(last, filter, { after, limit: limit + 1 }));
      return toListing({ items }, limit, toAuditEntry, (last) => PLACE.write([last.id]));
    },
  );
}
