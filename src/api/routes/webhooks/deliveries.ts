/** The deliveries of a webhook: listed, shown with their bodies, sent again; and a test. */
import { noWebhook } from '../../../commands/webhooks/change-webhook.ts';
import { noDelivery, retryDelivery, sendTest } from '../../../commands/webhooks/send-again.ts';
import { parseId, type DeliveryId, type JobId } from '../../../core/ids.ts';
import { findDelivery, findWebhook, listDeliveries } from '../../../db/webhooks/webhooks.ts';
import { ref } from '../../../schema/build.ts';
import { cursorOf, id } from '../../request/cursor.ts';
import { answeredBy, write } from '../../request/write.ts';
import { toListing } from '../../response/page.ts';
import { orNotFound } from '../../response/problem.ts';
import { readerOf } from '../../response/reads.ts';
import { WriteHeaders } from '../../schemas/common.ts';
import { DeliveryList, DeliveryParams, DeliveryQuery, WholeDelivery } from '../../schemas/webhooks/webhook.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { toDelivery, toWholeDelivery } from '../../wire/webhook.ts';
import { IdParams } from '../params.ts';
import { webhookId } from './webhooks.ts';

const tags = ['webhooks'];

const PLACE = cursorOf((value) => id<DeliveryId>(value));

export function deliveryRoutes(app: App, ports: ApiPorts): void {
  testRoute(app, ports);
  listDeliveriesRoute(app, ports);
  getDeliveryRoute(app, ports);
  retryRoute(app, ports);
}

function testRoute(app: App, ports: ApiPorts): void {
  app.post(
    '/api/webhooks/:id/test',
    {
      config: { access: 'configure' },
      schema: {
        summary: 'Send a test event at once, and once. Its delivery shows how it went',
        operationId: 'testWebhook',
        tags,
        params: IdParams,
        headers: WriteHeaders,
        response: { 202: ref(WholeDelivery) },
      },
    },
    async (request, reply) => {
      const { tenantId, params } = request;
      const command = sendTest({ tenantId, id: webhookId(params.id) }, ports.ids.next<DeliveryId>());
      reply.code(202);
      return write(
        ports,
        request,
        answeredBy(command, async (_, delivery) => toWholeDelivery(delivery)),
      );
    },
  );
}

function listDeliveriesRoute(app: App, ports: ApiPorts): void {
  app.get(
    '/api/webhooks/:id/deliveries',
    {
      config: { access: 'read', tokens: 'none' },
      schema: {
        summary: 'Deliveries of a webhook, newest first, without bodies. They are kept for 30 days',
        operationId: 'listDeliveries',
        tags,
        params: IdParams,
        querystring: DeliveryQuery,
        response: { 200: ref(DeliveryList) },
      },
    },
    async ({ tenantId, params, query }, reply) => {
      const key = { tenantId, id: webhookId(params.id) };
      const [after] = PLACE.read(query.cursor) ?? [null];
      const filter = { status: query.status ?? null, jobId: parseId<JobId>(query.job_id ?? '') };
      const items = await readerOf(
        ports,
        reply,
      )(async (tx) => {
        orNotFound(await findWebhook(tx, key), noWebhook(key.id).message);
        return listDeliveries(tx, key, filter, { after, limit: query.limit + 1 });
      });
      return toListing({ items }, query.limit, toDelivery, (last) => PLACE.write([last.id]));
    },
  );
}

function getDeliveryRoute(app: App, ports: ApiPorts): void {
  app.get(
    '/api/webhooks/:id/deliveries/:delivery_id',
    {
      config: { access: 'read', tokens: 'none' },
      schema: {
        summary: 'One delivery, with the body of its request and of the last response',
        operationId: 'getDelivery',
        tags,
        params: DeliveryParams,
        response: { 200: ref(WholeDelivery) },
      },
    },
    async ({ tenantId, params }) => {
      const key = { tenantId, id: webhookId(params.id) };
      const delivery = deliveryId(params.delivery_id);
      const found = await findDelivery(ports.database.db, key, delivery);
      return toWholeDelivery(orNotFound(found, noDelivery(delivery).message));
    },
  );
}

function retryRoute(app: App, ports: ApiPorts): void {
  app.post(
    '/api/webhooks/:id/deliveries/:delivery_id/retry',
    {
      config: { access: 'configure' },
      schema: {
        summary:
          'Send a delivery again at once, also one that was delivered. If it fails, it is retried for three days',
        operationId: 'retryDelivery',
        tags,
        params: DeliveryParams,
        headers: WriteHeaders,
        response: { 202: ref(WholeDelivery) },
      },
    },
    async (request, reply) => {
      const { tenantId, params } = request;
      const command = retryDelivery({ tenantId, id: webhookId(params.id) }, deliveryId(params.delivery_id));
      reply.code(202);
      return write(
        ports,
        request,
        answeredBy(command, async (_, delivery) => toWholeDelivery(delivery)),
      );
    },
  );
}

function deliveryId(text: string): DeliveryId {
  return orNotFound(parseId<DeliveryId>(text), noDelivery(text).message);
}
