/** `webhooks`: lists webhooks. Subcommands make, show, test, change and remove one, and show what was sent to it. */
import { setTimeout } from 'node:timers/promises';
import { Option, type Command } from 'commander';
import type {
  Client,
  CreatedWebhook,
  CreateWebhook,
  Delivery,
  Json,
  Operations,
  Webhook,
  WholeDelivery,
} from '../../../client/index.ts';
import { apiCommand, carryOut, print, withBelow, type Cli, type Common } from '../../cli.ts';
import { listText, pageSize, printList, type List } from '../../list.ts';
import { EXIT } from '../../exit.ts';
import { findDeliveryId, findWebhookId } from '../../find/webhooks.ts';
import { findJobId } from '../../find/find.ts';
import { oneLine, safe } from '../../terminal/safe.ts';
import { ago } from '../../terminal/time.ts';
import { duration, given, member, someOf, wholeNumber } from '../../values.ts';

type Event = CreateWebhook['events'][number];

const EVENTS: readonly Event[] = [
  'job.started',
  'job.waiting',
  'job.finished',
  'approval.requested',
  'approval.resolved',
  'worker.failed',
];

/** How long `test` waits for the outcome, in milliseconds: an attempt takes ten seconds at most. */
const TEST_MS = 15_000;
const POLL_MS = 250;

export function webhooksCommand(cli: Cli): Command {
  const command = apiCommand('webhooks', 'list webhooks; add, test, change or remove one, and see what was sent', [
    'nightshift webhooks',
    'nightshift webhooks add https://example.com/hooks --event job.finished,worker.failed',
    'nightshift webhooks deliveries 0199… --status failed',
  ]);
  return withBelow(command, [
    addCommand(cli),
    showCommand(cli),
    testCommand(cli),
    deliveriesCommand(cli),
    deliveryCommand(cli),
    retryCommand(cli),
    rotateCommand(cli),
    statusCommand(cli, 'enable', 'active'),
    statusCommand(cli, 'disable', 'disabled'),
    removeCommand(cli),
  ]).action((options: Common) =>
    carryOut(cli, options, async (client) => {
      const data = await client.webhooks.list({ limit: 200 }).all();
      print(cli, options, { data }, listText(cli, data, LIST));
    }),
  );
}

type Add = Common & { event?: Event[]; role?: string; metadata?: { [key: string]: Json } };

function addCommand(cli: Cli): Command {
  return apiCommand('add', 'create a webhook and print its secret; it cannot be shown again', [
    'nightshift webhooks add https://example.com/hooks --event job.finished > secret.txt',
    'nightshift webhooks add https://example.com/hooks -e job.finished --role support --metadata team=7',
  ])
    .argument('<url>', 'address of the receiver')
    .requiredOption('-e, --event <events>', `${EVENTS.join(', ')}; may be repeated`, someOf(EVENTS))
    .option('-r, --role <role>', 'only jobs of workers with this role')
    .option('--metadata <name=value>', 'only jobs with this metadata; may be repeated', member)
    .action((url: string, { event = [], role, metadata, ...common }: Add) =>
      carryOut(cli, common, async (client) => {
        const filter = given({ role, metadata });
        const made = await client.webhooks.create({
          url,
          events: event,
          ...(Object.keys(filter).length > 0 && { filter }),
        });
        printSecret(cli, common, made);
      }),
    );
}

function showCommand(cli: Cli): Command {
  return apiCommand('show', 'show one webhook', ['nightshift webhooks show 0199…'])
    .argument('<id>', 'id of the webhook')
    .action((named: string, options: Common) =>
      carryOut(cli, options, async (client) => {
        const id = await findWebhookId(client, named);
        const webhook = await client.webhooks.get(id);
        print(cli, options, webhook, webhookText(webhook));
      }),
    );
}

function testCommand(cli: Cli): Command {
  return apiCommand('test', 'send a test event, and wait for the outcome', ['nightshift webhooks test 0199…'])
    .argument('<id>', 'id of the webhook')
    .action((named: string, options: Common) =>
      carryOut(cli, options, async (client) => {
        const id = await findWebhookId(client, named);
        const delivery = await outcomeOf(client, await client.webhooks.test(id));
        print(cli, options, delivery, `${outcomeText(delivery)}\n`);
        return delivery.status === 'delivered' ? EXIT.completed : EXIT.failed;
      }),
    );
}

async function outcomeOf(client: Client, sent: WholeDelivery): Promise<WholeDelivery> {
  const until = performance.now() + TEST_MS;
  let delivery = sent;
  while (delivery.status === 'pending' && performance.now() < until) {
    await setTimeout(POLL_MS);
    delivery = await client.webhooks.delivery(sent.webhook_id, sent.id);
  }
  return delivery;
}

type DeliveryQuery = NonNullable<Operations['GET /api/webhooks/{id}/deliveries']['query']>;
type ListDeliveries = Common & { status?: NonNullable<DeliveryQuery['status']>; job?: string; limit: number };

function deliveriesCommand(cli: Cli): Command {
  return apiCommand('deliveries', 'list what was sent to a webhook, newest first', [
    'nightshift webhooks deliveries 0199…',
    'nightshift webhooks deliveries 0199… --status failed --json | jq -r .data[].id',
  ])
    .argument('<id>', 'id of the webhook')
    .addOption(new Option('-s, --status <status>', 'only these').choices(['pending', 'delivered', 'failed']))
    .option('--job <id>', 'only events of this job')
    .option('-n, --limit <n>', 'maximum number of rows', wholeNumber(1, 100_000), 20)
    .action((named: string, { status, job, ...options }: ListDeliveries) =>
      carryOut(cli, options, async (client) => {
        const id = await findWebhookId(client, named);
        const jobId = job === undefined ? undefined : await findJobId(client, job);
        const query = { limit: pageSize(options.limit), ...given({ status, job_id: jobId }) };
        const filtered = status !== undefined || job !== undefined;
        await printList(cli, options, client.webhooks.deliveries(id, query), { ...DELIVERIES, filtered });
      }),
    );
}

function deliveryCommand(cli: Cli): Command {
  return apiCommand('delivery', 'show one delivery with its body and the last response', [
    'nightshift webhooks delivery 0199… 0199…',
  ])
    .argument('<id>', 'id of the webhook')
    .argument('<delivery>', 'id of the delivery')
    .action((named: string, namedDelivery: string, options: Common) =>
      carryOut(cli, options, async (client) => {
        const id = await findWebhookId(client, named);
        const deliveryId = await findDeliveryId(client, id, namedDelivery);
        const delivery = await client.webhooks.delivery(id, deliveryId);
        const response = delivery.response_body ?? '';
        const text = [
          `${delivery.type} ${delivery.id}, ${outcomeText(delivery)}`,
          safe(delivery.body),
          ...(response === '' ? [] : ['Response:', safe(response)]),
        ];
        print(cli, options, delivery, `${text.join('\n')}\n`);
      }),
    );
}

function retryCommand(cli: Cli): Command {
  return apiCommand('retry', 'send a delivery again', ['nightshift webhooks retry 0199… 0199…'])
    .argument('<id>', 'id of the webhook')
    .argument('<delivery>', 'id of the delivery')
    .action((named: string, namedDelivery: string, options: Common) =>
      carryOut(cli, options, async (client) => {
        const id = await findWebhookId(client, named);
        const deliveryId = await findDeliveryId(client, id, namedDelivery);
        const delivery = await client.webhooks.retry(id, deliveryId);
        print(cli, options, delivery, `${oneLine(deliveryId)} is sent again.\n`);
      }),
    );
}

function rotateCommand(cli: Cli): Command {
  return apiCommand('rotate', 'replace the secret; both sign during the overlap', [
    'nightshift webhooks rotate 0199… > secret.txt',
    'nightshift webhooks rotate 0199… --overlap 1h',
  ])
    .argument('<id>', 'id of the webhook')
    .option('--overlap <time>', 'how long the old secret signs too (1d)', duration)
    .action((named: string, { overlap, ...common }: Common & { overlap?: number }) =>
      carryOut(cli, common, async (client) => {
        const id = await findWebhookId(client, named);
        const seconds = overlap === undefined ? undefined : Math.ceil(overlap / 1_000);
        printSecret(cli, common, await client.webhooks.rotate(id, given({ overlap_s: seconds })));
      }),
    );
}

function statusCommand(cli: Cli, name: string, status: Webhook['status']): Command {
  const summary = name === 'enable' ? 'send to a webhook again, also what is pending' : 'send nothing to a webhook';
  return apiCommand(name, summary, [`nightshift webhooks ${name} 0199…`])
    .argument('<id>', 'id of the webhook')
    .action((named: string, options: Common) =>
      carryOut(cli, options, async (client) => {
        const id = await findWebhookId(client, named);
        const webhook = await client.webhooks.update(id, { status });
        print(cli, options, webhook, `${oneLine(id)} is ${status}.\n`);
      }),
    );
}

function removeCommand(cli: Cli): Command {
  return apiCommand('remove', 'delete a webhook and its deliveries', ['nightshift webhooks remove 0199…'])
    .argument('<id>', 'id of the webhook')
    .action((named: string, options: Common) =>
      carryOut(cli, options, async (client) => {
        const id = await findWebhookId(client, named);
        await client.webhooks.delete(id);
        print(cli, options, { id }, `${oneLine(id)} is deleted.\n`);
      }),
    );
}

/** The secret alone on stdout, so that it can be written to a file. */
function printSecret(cli: Cli, options: Common, made: CreatedWebhook): void {
  print(cli, options, made, `${made.secret}\n`);
  cli.screen.note(cli.screen.sideInk('dim', `${made.id}, to ${oneLine(made.url)}. The secret is not shown again.`));
}

function webhookText({ id, url, events, filter, ...webhook }: Webhook): string {
  const lines = [
    `${id}  ${stateOf(webhook)}`,
    `to ${oneLine(url)}`,
    `events ${events.join(', ')}`,
    ...(filter === null ? [] : [`filter ${oneLine(JSON.stringify(filter))}`]),
    `pending ${webhook.pending}`,
    `last success ${webhook.last_success_at ?? '–'}, last failure ${webhook.last_failure_at ?? '–'}`,
    ...(webhook.last_error === null ? [] : [`last error: ${oneLine(webhook.last_error)}`]),
  ];
  return `${lines.join('\n')}\n`;
}

function stateOf({
  status,
  disabled_reason,
  failing_since,
}: Pick<Webhook, 'status' | 'disabled_reason' | 'failing_since'>) {
  if (disabled_reason !== null) return `disabled (${disabled_reason})`;
  return failing_since === null ? status : `${status}, failing for ${ago(failing_since)}`;
}

function outcomeText({ status, attempts, response_status, error, duration_ms }: Delivery): string {
  if (status === 'pending' && attempts === 0) return 'pending: no attempt yet. Does a worker process run?';
  const took = duration_ms === null ? '' : ` in ${duration_ms} ms`;
  if (status === 'delivered') return `delivered: ${response_status ?? '–'}${took}`;
  return `${status} after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}: ${oneLine(error ?? '')}`;
}

const LIST: List<Webhook> = {
  none: 'No webhooks.',
  columns: [
    { title: 'ID', cell: ({ id }) => id, isId: true },
    { title: 'STATE', cell: stateOf },
    { title: 'PENDING', cell: ({ pending }) => String(pending), spare: 1 },
    { title: 'URL', cell: ({ url }) => url },
    { title: 'EVENTS', cell: ({ events }) => events.join(' ') },
  ],
};

const DELIVERIES: List<Delivery> = {
  none: 'No deliveries.',
  columns: [
    { title: 'ID', cell: ({ id }) => id, isId: true },
    { title: 'TYPE', cell: ({ type }) => type, spare: 3 },
    { title: 'SEQ', cell: ({ seq }) => String(seq ?? '–'), spare: 2 },
    { title: 'STATUS', cell: ({ status }) => status },
    { title: 'ATTEMPTS', cell: ({ attempts }) => String(attempts), spare: 1 },
    { title: 'CREATED', cell: ({ created_at }) => ago(created_at) },
    { title: 'RESULT', cell: ({ response_status, error }) => error ?? String(response_status ?? '–') },
  ],
};
