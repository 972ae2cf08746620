/**
 * Webhooks of a tenant. A response that contains a secret is not stored, not even under an `Idempotency-Key`: a repeated
 * request makes another one.
 */
import {
  changeWebhook,
  makeWebhook,
  noWebhook,
  removeWebhook,
  rotateSecret,
} from '../../../commands/webhooks/change-webhook.ts';
import { parseId, type WebhookId } from '../../../core/ids.ts';
import { findWebhook, listWebhooks } from '../../../db/webhooks/webhooks.ts';
import { ref } from '../../../schema/build.ts';
import { cursorOf, id } from '../../request/cursor.ts';
import { audited } from '../../request/audited.ts';
import { answeredBy, unstored, write } from '../../request/write.ts';
import { toListing } from '../../response/page.ts';
import { invalid, orNotFound, refused } from '../../response/problem.ts';
import { readerOf } from '../../response/reads.ts';
import { Empty, PageQuery, WriteHeaders } from '../../schemas/common.ts';
import {
  CreateWebhook,
  CreatedWebhook,
  PatchWebhook,
  RotateWebhookSecret,
  USUAL_SECRET_OVERLAP_S,
  Webhook,
  WebhookList,
} from '../../schemas/webhooks/webhook.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { toWebhook } from '../../wire/webhook.ts';
import { newWebhookSecret, type SecretBox } from '../../../webhooks/secret-box.ts';
import { IdParams } from '../params.ts';

const tags = ['webhooks'];

const PLACE = cursorOf((value) => id<WebhookId>(value));

export function webhookRoutes(app: App, ports: ApiPorts): void {
  listWebhooksRoute(app, ports);
  createWebhookRoute(app, ports);
  getWebhookRoute(app, ports);
  patchWebhookRoute(app, ports);
  deleteWebhookRoute(app, ports);
  rotateSecretRoute(app, ports);
}

function listWebhooksRoute(app: App, ports: ApiPorts): void {
  app.get(
    '/api/webhooks',
    {
      config: { access: 'read', tokens: 'none' },
      schema: {
        summary: 'Webhooks, newest first',
        operationId: 'listWebhooks',
        tags,
        querystring: PageQuery,
        response: { 200: ref(WebhookList) },
      },
    },
    async ({ tenantId, query }, reply) => {
      const [after] = PLACE.read(query.cursor) ?? [null];
      const read = readerOf(ports, reply);
      const items = await read((_, last) => listWebhooks(last, tenantId, { after, limit: query.limit + 1 }));
      return toListing({ items }, query.limit, toWebhook, (last) => PLACE.write([last.id]));
    },
  );
}

function createWebhookRoute(app: App, ports: ApiPorts): void {
  app.post(
    '/api/webhooks',
    {
      config: { access: 'configure' },
      schema: {
        summary:
          'Create a webhook. The response is the only one that shows its secret; a repeated request creates another',
        operationId: 'createWebhook',
        tags,
        body: ref(CreateWebhook),
        response: { 201: ref(CreatedWebhook) },
      },
    },
    async (request, reply) => {
      const { tenantId, body } = request;
      const box = secretBoxOf(ports);
      const url = checkedUrl(ports, body.url);
      const webhookId = ports.ids.next<WebhookId>();
      const secret = newWebhookSecret();
      const { events, filter = null, status = 'active' } = body;
      const sealed = box.seal({ tenantId, id: webhookId }, secret);
      const make = makeWebhook({ id: webhookId, tenantId, url, events, filter, status, secret: sealed });
      const act = { action: 'webhook.created', target: webhookId, detail: { url, events } } as const;
      const command = audited(ports, { request, tenantId }, make, () => [act]);
      const made = await write(ports, unstored(request), command);
      reply.code(201).header('location', `/api/webhooks/${webhookId}`);
      return { ...toWebhook(made), secret };
    },
  );
}

function getWebhookRoute(app: App, ports: ApiPorts): void {
  app.get(
    '/api/webhooks/:id',
    {
      config: { access: 'read', tokens: 'none' },
      schema: {
        summary: 'One webhook',
        operationId: 'getWebhook',
        tags,
        params: IdParams,
        response: { 200: ref(Webhook) },
      },
    },
    async ({ tenantId, params }) => {
      const key = { tenantId, id: webhookId(params.id) };
      return toWebhook(orNotFound(await findWebhook(ports.database.db, key), noWebhook(key.id).message));
    },
  );
}

function patchWebhookRoute(app: App, ports: ApiPorts): void {
  app.patch(
    '/api/webhooks/:id',
    {
      config: { access: 'configure' },
      schema: {
        summary: 'Change a webhook, enable or disable it',
        description:
          'Enabled again, it receives what is still pending, at once. What is older than three days is given up. Events of the time in which it was disabled are not sent.',
        operationId: 'patchWebhook',
        tags,
        params: IdParams,
        headers: WriteHeaders,
        body: ref(PatchWebhook),
        response: { 200: ref(Webhook) },
      },
    },
    async (request, reply) => {
      const { tenantId, params, body } = request;
      const changes = body.url === undefined ? body : { ...body, url: checkedUrl(ports, body.url) };
      const id = webhookId(params.id);
      const act = { action: 'webhook.changed', target: id, detail: changes } as const;
      const command = audited(ports, { request, tenantId }, changeWebhook({ tenantId, id }, changes), () => [act]);
      const answered = answeredBy(command, async (_, changed) => toWebhook(changed));
      reply.code(200);
      return write(ports, request, answered);
    },
  );
}

function deleteWebhookRoute(app: App, ports: ApiPorts): void {
  app.delete(
    '/api/webhooks/:id',
    {
      config: { access: 'configure' },
      schema: {
        summary: 'Delete a webhook and its deliveries',
        operationId: 'deleteWebhook',
        tags,
        params: IdParams,
        headers: WriteHeaders,
        response: { 204: Empty },
      },
    },
    async (request, reply) => {
      const { tenantId, params } = request;
      const id = webhookId(params.id);
      const act = { action: 'webhook.deleted', target: id, detail: {} } as const;
      const command = audited(ports, { request, tenantId }, removeWebhook({ tenantId, id }), () => [act]);
      await write(ports, request, command);
      reply.code(204);
      return null;
    },
  );
}

function rotateSecretRoute(app: App, ports: ApiPorts): void {
  app.post(
    '/api/webhooks/:id/rotate',
    {
      config: { access: 'configure' },
      schema: {
        summary: 'Replace the secret of a webhook. During the overlap, deliveries are signed with both',
        operationId: 'rotateWebhookSecret',
        tags,
        params: IdParams,
        body: ref(RotateWebhookSecret),
        response: { 200: ref(CreatedWebhook) },
      },
    },
    async (request, reply) => {
      const { tenantId, params, body } = request;
      const box = secretBoxOf(ports);
      const key = { tenantId, id: webhookId(params.id) };
      const secret = newWebhookSecret();
      const overlapS = body.overlap_s ?? USUAL_SECRET_OVERLAP_S;
      const rotate = rotateSecret(key, box.seal(key, secret), overlapS);
      const act = { action: 'webhook.rotated', target: key.id, detail: { overlap_s: overlapS } } as const;
      const command = audited(ports, { request, tenantId }, rotate, () => [act]);
      const changed = await write(ports, unstored(request), command);
      reply.code(200);
      return { ...toWebhook(changed), secret };
    },
  );
}

export function webhookId(text: string): WebhookId {
  return orNotFound(parseId<WebhookId>(text), noWebhook(text).message);
}

function secretBoxOf({ webhooks }: ApiPorts): SecretBox {
  if (webhooks.secretBox !== null) return webhooks.secretBox;
  throw refused(
    'unsupported',
    'Webhooks need NIGHTSHIFT_SECRET_KEY, the same in every API and worker process (openssl rand -hex 32).',
  );
}

/** As it is stored. An error does not repeat it: it may contain a password. */
function checkedUrl({ webhooks }: ApiPorts, url: string): string {
  const why = webhooks.whyNot(url);
  if (why !== null) throw invalid(`The webhook cannot be sent to this URL: ${why}.`, 'url');
  return new URL(url).href;
}
