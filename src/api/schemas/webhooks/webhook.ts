/** Webhooks and their deliveries in the API. */
import { Type, type Static } from 'typebox';
import {
  DELIVERY_STATUSES,
  DISABLED_REASONS,
  FILTER_BYTES,
  LONGEST_URL,
  TEST_EVENT,
  WEBHOOK_EVENTS,
  WEBHOOK_STATUSES,
} from '../../../core/webhooks/webhook.ts';
import { MAX_BYTES, integer, nullable, oneOf, plainText, ref, strict } from '../../../schema/build.ts';
import { PLAIN_TEXT } from '../../../schema/patterns.ts';
import { Count, Instant, JsonObject, Page, Uuid, described, listOf } from '../common.ts';

const Url = Type.String({
  minLength: 1,
  maxLength: LONGEST_URL,
  pattern: PLAIN_TEXT,
  description: 'Of the receiver. https, unless the operator allows http. Redirects are not followed.',
  examples: ['https://example.com/hooks'],
});

const Events = Type.Array(oneOf(WEBHOOK_EVENTS), {
  minItems: 1,
  uniqueItems: true,
  description: 'The events that it receives.',
});

export const WebhookFilter = strict(
  {
    role: Type.Optional(plainText(200, 1, 'Only jobs of workers with this role.')),
    metadata: Type.Optional(described(JsonObject, 'Only jobs whose metadata contains this object.')),
  },
  { $id: 'WebhookFilter', [MAX_BYTES]: FILTER_BYTES },
);

const Filter = nullable(ref(WebhookFilter));

const Status = oneOf(WEBHOOK_STATUSES, 'disabled: nothing is sent, and events meanwhile are not kept for it.');

export const Webhook = strict(
  {
    id: Uuid,
    url: Type.String(),
    events: Type.Array(oneOf(WEBHOOK_EVENTS)),
    filter: Filter,
    status: Status,
    disabled_reason: nullable(
      oneOf(
        DISABLED_REASONS,
        'requested: by a client. failing: a delivery was given up after three days, and none succeeded meanwhile. gone: the receiver answered 410. backlog: too many deliveries were pending.',
      ),
    ),
    created_at: Instant,
    updated_at: Instant,
    last_success_at: nullable(Instant),
    last_failure_at: nullable(Instant),
    last_error: nullable(Type.String()),
    failing_since: nullable(
      described(Instant, 'The first failure since the last success, while deliveries are pending.'),
    ),
    pending: described(Count, 'Deliveries that are neither delivered nor given up.'),
  },
  { $id: 'Webhook' },
);
export type Webhook = Static<typeof Webhook>;

export const WebhookList = listOf('WebhookList', Webhook);

export const CreatedWebhook = strict(
  {
    ...Webhook.properties,
    secret: Type.String({ description: 'Signs the deliveries. It is shown only here.' }),
  },
  { $id: 'CreatedWebhook' },
);

export const CreateWebhook = strict(
  { url: Url, events: Events, filter: Type.Optional(Filter), status: Type.Optional(Status) },
  { $id: 'CreateWebhook' },
);

export const PatchWebhook = strict(
  {
    url: Type.Optional(Url),
    events: Type.Optional(Events),
    filter: Type.Optional(described(Filter, 'Replaces the filter; null removes it.')),
    status: Type.Optional(Status),
  },
  { $id: 'PatchWebhook' },
);

const DAY_S = 86_400;

export const RotateWebhookSecret = strict(
  {
    overlap_s: Type.Optional(
      integer(0, 30 * DAY_S, `How long the old secret signs too, in seconds; ${DAY_S} by default.`),
    ),
  },
  { $id: 'RotateWebhookSecret' },
);

/** `overlap_s` where none is given. */
export const USUAL_SECRET_OVERLAP_S = DAY_S;

export const Delivery = strict(
  {
    id: described(Uuid, 'Also the header webhook-id, the same in every attempt.'),
    webhook_id: Uuid,
    type: oneOf([...WEBHOOK_EVENTS, TEST_EVENT]),
    context_id: nullable(described(Uuid, 'Null: a test.')),
    job_id: nullable(Uuid),
    seq: nullable(Type.Integer({ minimum: 1, description: 'Counts the deliveries of a job to the webhook.' })),
    status: oneOf(DELIVERY_STATUSES, 'failed: given up.'),
    attempts: Count,
    created_at: Instant,
    next_attempt_at: nullable(described(Instant, 'The earliest time of the next attempt.')),
    last_attempt_at: nullable(Instant),
    delivered_at: nullable(Instant),
    duration_ms: nullable(described(Count, 'Of the last attempt.')),
    response_status: nullable(Type.Integer({ description: 'Of the last attempt; null: there was no response.' })),
    error: nullable(Type.String({ description: 'Why the last attempt failed.' })),
  },
  { $id: 'Delivery' },
);
export type Delivery = Static<typeof Delivery>;

export const DeliveryList = listOf('DeliveryList', Delivery);

export const WholeDelivery = strict(
  {
    ...Delivery.properties,
    body: Type.String({ description: 'The body of the request, as it is signed.' }),
    response_body: nullable(Type.String({ description: 'The first 1,024 bytes of the last response.' })),
  },
  { $id: 'WholeDelivery' },
);
export type WholeDelivery = Static<typeof WholeDelivery>;

export const DeliveryQuery = strict({
  ...Page,
  status: Type.Optional(oneOf(DELIVERY_STATUSES)),
  job_id: Type.Optional(Uuid),
});

export const DeliveryParams = strict({ id: Uuid, delivery_id: Uuid });
