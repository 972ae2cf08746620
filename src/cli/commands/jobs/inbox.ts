/** `inbox`: lists everything that waits for a person. */
import { Option, type Command } from 'commander';
import type { Client, InboxItem, Operations } from '../../../client/index.ts';
import { questionOf } from '../../asking/item.ts';
import { apiCommand, carryOut, type Cli, type Common } from '../../cli.ts';
import { first, listText, moreText, pageSize, type List } from '../../list.ts';
import { ago } from '../../terminal/time.ts';
import { given, wholeNumber } from '../../values.ts';
import { inputOf, inputText } from './job-input.ts';

type Kind = NonNullable<NonNullable<Operations['GET /api/approvals']['query']>['kind']>;
type Options = Common & { kind?: Kind; user?: string; limit: number };

export function inboxCommand(cli: Cli): Command {
  return apiCommand('inbox', 'list everything that waits for a person, oldest first', [
    'nightshift inbox',
    "nightshift inbox --kind approval --json | jq -r '.data[].tool_call_id'",
  ])
    .addOption(
      new Option('-k, --kind <kind>', 'only items of this kind').choices(['approval', 'input', 'unknown_outcome']),
    )
    .option('-u, --user <name>', 'only items of this end user')
    .option('-n, --limit <n>', 'maximum number of rows', wholeNumber(1, 100_000), 50)
    .action((options: Options) =>
      carryOut(cli, options, async (client) => {
        const { kind, user, limit } = options;
        const query = { limit: pageSize(limit), ...given({ kind, user }) };
        const read = await first(client.approvals.list(query), limit + 1);
        const data = read.slice(0, limit);
        if (options.json === true) return cli.screen.json({ data });
        const tasks = await tasksOf(client, data);
        const list = { ...LIST, filtered: kind !== undefined || user !== undefined };
        const rows = data.map((item, at) => ({ item, task: tasks[at] ?? '' }));
        cli.screen.out(listText(cli, rows, list));
        if (read.length > limit) cli.screen.note(moreText(cli, limit));
      }),
    );
}

type Row = { item: InboxItem; task: string };

/** Inputs that are read at the same time. */
const AT_ONCE = 8;

/** The text of the input of each item's job, in order. Several calls of one job are read once. */
async function tasksOf(client: Client, items: readonly InboxItem[]): Promise<string[]> {
  const jobs = new Map(items.map((item) => [item.job_id, item]));
  const texts = new Map<string, string>();
  const left = [...jobs.values()];
  const work = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) {
      const input = await inputOf(client, item.context_id, item.input_message_id);
      texts.set(item.job_id, input === null ? '' : inputText(input));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return items.map(({ job_id }) => texts.get(job_id) ?? '');
}

const LIST: List<Row> = {
  none: 'Nothing waits for a person.',
  columns: [
    { title: 'CALL', cell: ({ item }) => item.tool_call_id, isId: true },
    { title: 'KIND', cell: ({ item }) => item.kind, spare: 4 },
    { title: 'AGE', cell: ({ item }) => ago(item.requested_at), right: true },
    { title: 'WORKER', cell: ({ item }) => item.worker_name },
    { title: 'CONTEXT', cell: ({ item }) => item.context_id, isId: true, spare: 2 },
    { title: 'TASK', cell: ({ task }) => task, most: 40, spare: 1 },
    { title: 'ASKS', cell: ({ item }) => asksOf(item) },
  ],
};

/** The question, or the call that may run. */
function asksOf(item: InboxItem): string {
  return questionOf(item)?.question ?? `${item.name} ${JSON.stringify(item.input)}`;
}
