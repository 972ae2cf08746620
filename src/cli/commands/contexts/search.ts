/** `search`: full-text search over messages. */
import { Option, type Command } from 'commander';
import type { Operations, SearchResult } from '../../../client/index.ts';
import { apiCommand, carryOut, print, type Cli, type Common } from '../../cli.ts';
import { first } from '../../list.ts';
import { findContextId, findWorker } from '../../find/find.ts';
import type { Ink } from '../../terminal/ink.ts';
import { oneLine } from '../../terminal/safe.ts';
import { given, instant, wholeNumber } from '../../values.ts';

type Query = NonNullable<Operations['GET /api/search']['query']>;
type Options = Common & {
  context?: string;
  worker?: string;
  role?: string;
  from?: NonNullable<Query['message_role']>;
  since?: string;
  before?: string;
  limit: number;
};

export function searchCommand(cli: Cli): Command {
  return apiCommand('search', 'search the text of messages', [
    'nightshift search "order A-17"',
    'nightshift search invoice --worker ada --from assistant --since 7d',
  ])
    .argument('<words...>', 'words, "phrases", -excluded')
    .option('-c, --context <id>', 'only in this context')
    .option('-w, --worker <id|name>', 'only in the context of this worker')
    .option('-r, --role <role>', 'only in contexts of workers with this role')
    .addOption(new Option('--from <side>', 'only messages with this role').choices(['user', 'assistant']))
    .option('--since <time>', 'only messages since then: a timestamp, or an age (7d)', instant(-1))
    .option('--before <time>', 'only messages before then', instant(-1))
    .option('-n, --limit <n>', 'maximum number of results', wholeNumber(1, 10_000), 20)
    .action((words: string[], options: Options) =>
      carryOut(cli, options, async (client) => {
        const { context, worker, role, from, since, before, limit } = options;
        const contextId = context === undefined ? undefined : await findContextId(client, context);
        const workerId = worker === undefined ? undefined : (await findWorker(client, worker)).id;
        const place = given({ context_id: contextId, worker_id: workerId, role });
        const filter = given({ message_role: from, created_after: since, created_before: before });
        const query = { q: words.join(' '), limit: Math.min(limit, 200), ...place, ...filter };
        const data = await first(client.search(query), limit);
        const text = data.map((one) => format(one, cli.screen.ink)).join('\n');
        print(cli, options, { data }, text === '' ? 'No messages found.\n' : text);
      }),
    );
}

function format({ context_id, role, turn, created_at, snippet }: SearchResult, ink: Ink): string {
  const text = oneLine(snippet).replaceAll(/\*\*(.+?)\*\*/g, (_, met: string) => ink('bold', met));
  return `${ink('dim', `${context_id}  ${turn}  ${role}  ${created_at}`)}\n  ${text}\n`;
}
