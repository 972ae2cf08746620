/** Texts of the webhooks in Settings. */
import type { Delivery, Webhook } from 'nightshift/client';
import { count } from '../count.ts';

const events: Readonly<Record<Webhook['events'][number], string>> = {
  'job.started': 'a worker process begins the job',
  'job.waiting': 'the job begins to wait for a person or a client',
  'job.finished': 'the job has ended, with any outcome',
  'approval.requested': 'a tool call waits for approval',
  'approval.resolved': 'a tool call was approved or denied',
  'worker.failed': 'the job of a worker failed',
};

const deliveryStatus: Readonly<Record<Delivery['status'], string>> = {
  pending: 'pending',
  delivered: 'delivered',
  failed: 'failed',
};

const disabled: Readonly<Record<NonNullable<Webhook['disabled_reason']>, string>> = {
  requested: 'disabled',
  failing: 'disabled: no delivery succeeded for three days',
  gone: 'disabled: the receiver answered 410',
  backlog: 'disabled: too many pending deliveries',
};

export const webhooksWords = {
  about: 'A webhook sends events of jobs to your server.',
  new: 'New webhook',
  empty: 'No webhooks yet',

  item: {
    disabled,
    active: 'active',
    failing: 'failing',
    pending: (deliveries: number) => `${deliveries} pending`,
    deliveriesOf: (url: string) => `Deliveries of ${url}`,
    test: 'Test',
    rotate: 'Rotate secret',
    rotateOf: (url: string) => `Rotate secret of ${url}`,
    enable: 'Enable',
    onlyRole: (role: string) => `only jobs of ${role}`,
    onlyMetadata: (metadata: string) => `only with metadata ${metadata}`,
    lastSuccess: 'Last success: {when}',
    noSuccess: 'Last success: never',
    lastFailure: 'Last failure: {when} ({error})',
    changeFailed: 'Could not change the webhook',
    tested: 'A test event is sent',
    testFailed: 'Could not send a test event',
  },

  form: {
    edit: 'Edit webhook',
    create: 'Create webhook',
    saved: 'Webhook saved',
    url: 'URL',
    urlExample: 'https://example.com/hooks',
    urlHint: 'Events are sent to it with POST, signed with a secret.',
    events: 'Events',
    eventsAbout: events,
    role: 'Role',
    anyRole: 'Jobs of any worker',
    onlyRole: (role: string) => `Only jobs of ${role}`,
    metadata: 'Metadata',
    metadataExample: '{"team": 7}',
    metadataHint: 'Optional: only jobs whose metadata contains this JSON object.',
    metadataFault: 'Enter a JSON object.',
  },

  deliveries: {
    title: 'Deliveries',
    none: 'No deliveries yet.',
    status: deliveryStatus,
    sequence: (seq: number) => `seq ${seq}`,
    attempts: (attempts: number) => count(attempts, 'attempt', 'attempts'),
    show: 'Show',
    hide: 'Hide',
    retryFailed: 'Could not send the delivery again',
    body: 'Body',
    response: 'Response',
    responseWithBody: (status: number) => `Response ${status}:`,
    responseWithoutBody: (status: number) => `Response ${status}, without a body`,
  },

  secret: {
    title: 'Secret of the webhook',
    about: (url: string) => `The receiver at ${url} verifies deliveries with it.`,
  },
  rotate: {
    title: 'Rotate the secret?',
    submit: 'Rotate',
    overlap: 'How long the old secret also signs',
    overlapHint:
      'Meanwhile deliveries are signed with both. Replace the secret at the receiver before the old one ends.',
  },
  delete: {
    title: (url: string) => `Delete webhook ${url}?`,
    about: 'Nothing more is sent to it. Its deliveries are deleted too, also those that are pending.',
    done: 'Webhook deleted',
  },
} as const;
