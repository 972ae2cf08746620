/** Changes the title or the config of a context, for PATCH and PUT. */
import type { FastifyReply } from 'fastify';
import { idleTimeouts, type WorkerConfig } from '../../../core/workers/settings.ts';
import { findContext } from '../../../db/read/contexts/context-views.ts';
import { audited, type AuditedBy } from '../../request/audited.ts';
import { changeSettings } from '../../request/settings-change.ts';
import { tagged } from '../../request/version.ts';
import { answeredBy, write, type WriteRequest } from '../../request/write.ts';
import { toAnswer } from '../../response/context-answer.ts';
import type { Context } from '../../schemas/contexts/context.ts';
import type { ApiPorts } from '../../server/ports.ts';
import { contextId, noContext } from '../params.ts';

type ChangeRequest = WriteRequest &
  AuditedBy & {
    params: { id: string };
    headers: { 'if-match'?: string };
    body: { title?: string | null };
  };

/** `fields`: those that change; null: all. */
type ConfigChange = { fields: string[] | null; of: (current: WorkerConfig) => WorkerConfig };

/** Changes the title where one is given, and the config where `configChange` is. */
export async function changeContext(
  ports: ApiPorts,
  request: ChangeRequest,
  reply: FastifyReply,
  configChange: ConfigChange | undefined,
): Promise<Context> {
  const { tenantId, body, headers } = request;
  const id = contextId(request.params.id);
  const command = changeSettings({
    tenantId,
    find: async (executor) => {
      const view = await findContext(executor, tenantId, id, idleTimeouts(ports.catalog.fileRoles));
      return view === null ? null : { ...view, contextId: id };
    },
    what: noContext(id),
    ifMatch: headers['if-match'],
    change: ({ config }) => ({
      ...(body.title !== undefined && { title: body.title }),
      ...(configChange !== undefined && { config: configChange.of(config) }),
    }),
  });
  const recorded = audited(ports, { request, tenantId }, command, () =>
    configChange === undefined
      ? []
      : [{ action: 'config.changed', target: id, detail: { fields: configChange.fields } }],
  );
  const answered = answeredBy(recorded, async (_, view) => toAnswer(view));
  return tagged(reply, await write(ports, request, answered));
}
